// Files that the page hands out.

/** Save a text, or what a data: URL holds, as a file. */
export function save(name, content, type) {
  const link = document.createElement("a");
  const isUrl = type === undefined;
  link.href = isUrl ? content : URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  if (!isUrl) setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
