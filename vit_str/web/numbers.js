// What several modules count with.

export const sum = (values) => values.reduce((one, other) => one + other, 0);
// Of many values, which are too many for the arguments of a function.
export const least = (values) => values.reduce((one, other) => Math.min(one, other), Infinity);
export const most = (values) => values.reduce((one, other) => Math.max(one, other), -Infinity);

/** The middle of some numbers, or the mean of both that are there. */
export function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}
