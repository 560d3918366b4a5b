// What is on a page, read from its DOM: see docs/structure.md. The last value is the result.
(() => {
  const HEADINGS = /^H([1-6])$/;
  const ROMAN = ['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x', 'xi', 'xii'];
  const HANGING = 'display: inline-block; width: 1.6em; margin-left: -1.6em; padding-right: .45em; text-align: right;'
    + ' text-indent: 0; white-space: nowrap';
  // Of what stands before an element
  const COPIED = ['position', 'left', 'right', 'top', 'color', 'font-size', 'font-weight', 'font-family', 'float', 'display',
    'width', 'margin-left', 'margin-right', 'padding-left', 'padding-right', 'background-color', 'text-align', 'white-space'];
  const attribute = (e, name) => e.getAttribute(name);

  // Where the content of a part ends, which may be made as high as its neighbor.
  function contentBottom(e) {
    const parts = [...e.children].filter(part => !part.matches('header, footer'));
    if (!e.matches('.flow, main') || !parts.length) return e.getBoundingClientRect().bottom;
    return Math.max(...parts.map(contentBottom));
  }

  // A table that may lose its last row: of several rows, of which no cell covers two.
  const isLong = e => e.matches('table') && e.rows.length > 4 && !e.querySelector('[rowspan]');

  // The last thing of a part: of parts side by side, that of the lowest.
  function lastOf(flow) {
    let last = flow;
    while ((last.matches('.flow, main, ul, ol, tbody, [role=table]') || isLong(last)) && last.lastElementChild) {
      const parts = [...last.children].filter(e => !e.matches('header, footer'));
      if (!parts.length) break;
      last = last.matches('.beside') ? parts.reduce((a, b) => (contentBottom(b) > contentBottom(a) ? b : a)) : parts.at(-1);
    }
    return last;
  }

  // Leave out words at the end of a paragraph; false if not even two lines fit.
  function shorten(paragraph, isHigh) {
    const words = paragraph.textContent.split(' ');
    if (paragraph.tagName !== 'P' || words.length < 25 || paragraph.querySelector('br')) return false;
    const show = count => { paragraph.textContent = words.slice(0, count).join(' '); };
    let fits = 14, most = words.length;
    show(fits);
    if (isHigh()) return false;
    while (fits < most - 1) {
      const middle = (fits + most) >> 1;
      show(middle);
      if (isHigh()) most = middle;
      else fits = middle;
    }
    show(fits);
    return true;
  }

  // Set tables that are wider than their room in smaller type.
  function narrow() {
    for (const table of document.querySelectorAll('table, [role=table]')) {
      const style = getComputedStyle(table.parentElement);
      const room = table.parentElement.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      const wide = Math.max(table.offsetWidth, table.scrollWidth);
      if (wide > room + 1) table.style.zoom = Math.max(0.6, room / wide);
    }
  }

  // Leave out what does not fit at the end of the text, also headings without text.
  function fit(height) {
    const flow = document.querySelector('body.flow') ?? document.querySelector('main');
    if (!flow) return;
    const isHigh = () => document.body.scrollHeight > height + 1;
    for (let left = 400; left && isHigh(); left--) {
      const last = lastOf(flow);
      if (last === flow || shorten(last, isHigh)) break;
      let inside = last.parentElement;
      if (inside === flow && flow.childElementCount < 3) break; // a title and one thing below it
      last.remove();
      while (inside !== flow && !inside.childElementCount) [inside] = [inside.parentElement, inside.remove()];
      for (let end; (end = inside.lastElementChild) && /^H[1-4]$/.test(end.tagName);) {
        const isAlone = inside.childElementCount === 1;
        if (isAlone && inside === flow) break;
        if (isAlone) [inside] = [inside.parentElement, inside.remove()];
        else end.remove();
      }
    }
  }

  // The mark that a style sheet puts before an item, as text; null if there is none.
  function markOf(item) {
    const style = getComputedStyle(item);
    if (style.display !== 'list-item' || style.listStyleImage !== 'none') return null;
    const siblings = [...item.parentElement.children].filter(e => e.tagName === 'LI');
    const number = siblings.indexOf(item) + (item.parentElement.start ?? 1);
    const letter = String.fromCharCode(96 + ((number - 1) % 26) + 1);
    const marks = {
      disc: '•', circle: '◦', square: '▪', decimal: `${number}.`, 'decimal-leading-zero': `${String(number).padStart(2, '0')}.`,
      'lower-alpha': `${letter}.`, 'lower-latin': `${letter}.`, 'upper-alpha': `${letter.toUpperCase()}.`,
      'upper-latin': `${letter.toUpperCase()}.`, 'lower-roman': `${ROMAN[number - 1] ?? number}.`,
      'upper-roman': `${(ROMAN[number - 1] ?? String(number)).toUpperCase()}.`,
    };
    const given = /^"(.*)"$/.exec(style.listStyleType);
    return given ? given[1] : marks[style.listStyleType] ?? null;
  }

  function span(text, css) {
    const made = document.createElement('span');
    made.textContent = text;
    made.style.cssText = css;
    return made;
  }

  // Make text of what style sheets write before items and other elements: readers see it, too.
  function writeMarks() {
    for (const item of document.querySelectorAll('li')) {
      const mark = markOf(item);
      if (mark === null) continue;
      const isInside = getComputedStyle(item).listStylePosition === 'inside';
      item.style.listStyle = 'none';
      const place = isInside ? 'margin-right: .5em' : HANGING;
      if (mark.trim()) item.prepend(span(mark.trim(), place));
    }
    const written = [];
    for (const e of document.body.querySelectorAll('*')) {
      const style = getComputedStyle(e, '::before');
      const text = /^"(.*\S.*)"$/.exec(style.content)?.[1];
      if (!text || e.closest('svg')) continue;
      const css = COPIED.map(name => `${name}: ${style.getPropertyValue(name)}`).join('; ');
      written.push([e, span(text, css)]);
    }
    if (!written.length) return;
    document.head.append(Object.assign(document.createElement('style'), {
      textContent: '.written::before { content: none !important }',
    }));
    for (const [e, made] of written) {
      e.classList.add('written');
      e.prepend(made);
    }
  }

  const isTable = e => (e.tagName === 'TABLE' && attribute(e, 'role') !== 'presentation')
    || attribute(e, 'role') === 'table';
  const isCell = e => (/^T[DH]$/.test(e.tagName) && isTable(e.closest('table')))
    || /^(cell|columnheader|rowheader)$/.test(attribute(e, 'role') ?? '');

  // What an element is for what is in it; null if it is only around blocks.
  function roleOf(e) {
    const role = attribute(e, 'role'), tag = e.tagName;
    if (isCell(e)) return tag === 'TH' || /header$/.test(role ?? '') ? 'head cell' : 'cell';
    if (role === 'heading' || HEADINGS.test(tag)) return 'heading';
    if (role === 'doc-footnote') return 'note';
    if (role === 'complementary') return 'margin';
    if (tag === 'LI') return 'item';
    if (role === 'term' || (tag === 'DIV' && e.parentElement.tagName === 'DL')) return 'fact';
    if (tag === 'CAPTION' || tag === 'FIGCAPTION') return 'caption';
    if (tag === 'PRE') return 'code';
    if (tag === 'P') return 'paragraph';
    const around = e.parentElement;
    if (around && around.tagName === 'HEADER') return 'head';
    if (around && around.tagName === 'FOOTER') return 'foot';
    return null;
  }

  function blockOf(node) {
    let block = null, role = null;
    for (let e = node.parentElement; e && e !== document.documentElement; e = e.parentElement) {
      if (attribute(e, 'aria-hidden') === 'true' || e.tagName === 'STYLE') return null;
      const found = roleOf(e);
      const running = {HEADER: 'head', FOOTER: 'foot'}[e.tagName];
      if (running) {
        [block, role] = [block ?? e, running];
      } else if (!found && (e.tagName === 'FIGURE' || attribute(e, 'role') === 'img') && !block) {
        [block, role] = [node.parentElement, 'figure'];
      } else if (found && (!block || /cell$/.test(found) || found === 'margin')) {
        [block, role] = [e, found];
      }
    }
    return block && [block, role];
  }

  const tables = [...document.querySelectorAll('table, [role=table]')].filter(isTable);
  const places = new Map();
  tables.forEach((table, number) => {
    const taken = new Set();
    const rows = table.tagName === 'TABLE' ? [...table.rows] : [...table.querySelectorAll('[role=row]')];
    rows.forEach((row, i) => {
      let j = 0;
      for (const cell of row.children) {
        const down = cell.rowSpan || 1, along = cell.colSpan || +(attribute(cell, 'aria-colspan') ?? 1);
        while (taken.has(`${i} ${j}`)) j++;
        for (let a = 0; a < down; a++) for (let b = 0; b < along; b++) taken.add(`${i + a} ${j + b}`);
        places.set(cell, [number, i, j, down, along]);
        j += along;
      }
    });
  });

  const sizeOf = e => parseFloat(getComputedStyle(e).fontSize) * (e.currentCSSZoom ?? 1);
  const round = v => Math.round(v * 10) / 10;
  const blocks = [], numbers = new Map();
  function numberOf(block, role) {
    if (!numbers.has(block)) {
      numbers.set(block, blocks.length);
      const depth = role === 'item' ? [...ancestors(block)].filter(e => e.tagName === 'LI').length + 1 : 0;
      const heading = HEADINGS.exec(block.tagName);
      const level = role === 'heading' ? +(attribute(block, 'aria-level') ?? heading?.[1] ?? 1) : depth;
      blocks.push([role, level, ...(places.get(block) ?? [-1, -1, -1, 1, 1])]);
    }
    return numbers.get(block);
  }
  function* ancestors(e) {
    for (let a = e.parentElement; a; a = a.parentElement) yield a;
  }

  // Pieces of a word: one, or two where a line ends in it.
  function pieces(node, start, end) {
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    const whole = [...range.getClientRects()].filter(b => b.width > 0.5);
    if (whole.length === 1) return [[node.data.slice(start, end), whole[0]]];
    const found = [];
    for (let k = start; k < end; k++) {
      range.setStart(node, k);
      range.setEnd(node, k + 1);
      // Behind a hyphen that is used, its box comes first
      const box = [...range.getClientRects()].findLast(b => b.width > 0.01);
      const last = found.at(-1);
      if (!box) {
        if (last) last[0] += node.data[k]; // of no width, as a hyphen that is not used
        continue;
      }
      if (last && Math.abs(last[1].top - box.top) < box.height / 2 && box.left >= last[1].left) {
        last[0] += node.data[k];
        last[1] = {left: last[1].left, top: last[1].top, right: box.right, bottom: last[1].bottom};
      } else found.push([node.data[k], box]);
    }
    return found;
  }

  // Quarter turns of text to the right, in degrees: as it is written down the page, and as boxes are rotated.
  const turns = new Map();
  function rotationOf(e) {
    if (!e || e === document.documentElement) return 0;
    if (!turns.has(e)) {
      const {transform} = getComputedStyle(e);
      const matrix = transform === 'none' ? null : new DOMMatrix(transform);
      turns.set(e, rotationOf(e.parentElement) + (matrix ? Math.atan2(matrix.b, matrix.a) * 180 / Math.PI : 0));
    }
    return turns.get(e);
  }
  function turnOf(e) {
    const isDown = getComputedStyle(e).writingMode.startsWith('vertical');
    return (Math.round((rotationOf(e) + (isDown ? 90 : 0)) / 90) * 90 % 360 + 360) % 360;
  }

  const words = [];
  let line = -1, before = null;
  function addWord(text, box, look, block, isJoined) {
    const [size, weight, turn] = look;
    const height = box.bottom - box.top;
    const shared = before ? Math.min(box.bottom, before[4]) - Math.max(box.top, before[2]) : 0;
    if (before && isJoined && before[8] === block && Math.abs(box.left - before[3]) < 0.12 * size
        && shared > Math.min(height, before[4] - before[2]) / 2) {
      before[0] += text;
      before[3] = round(Math.max(before[3], box.right));
      return;
    }
    const follows = before && before[8] === block && box.left > before[1] && shared > height / 2
      && box.left - before[3] < 1.5 * size;
    if (!follows || turn) line++;
    before = [text, round(box.left), round(box.top), round(box.right), round(box.bottom), round(size),
      weight, turn, block, line];
    words.push(before);
  }

  // A box to tick, which is also a word: readers take many for signs.
  function readCheck(node, height) {
    const found = blockOf(node.firstChild ?? node.appendChild(document.createTextNode('')));
    const box = node.getBoundingClientRect(), isTicked = attribute(node, 'aria-checked') === 'true';
    if (!found || box.bottom > height + 1) return;
    const size = sizeOf(node), block = numberOf(...found);
    addWord(isTicked ? '☒' : '☐', box, [size, 400, 0], block, false);
    checks.push([...[box.left, box.top, box.right, box.bottom].map(round), isTicked ? 1 : 0, block]);
  }

  function readWords(width, height) {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    let last = null, endsOpen = false;
    for (let node; (node = walker.nextNode());) {
      if (node.nodeType === Node.ELEMENT_NODE) {
        if (attribute(node, 'role') === 'checkbox') readCheck(node, height);
        continue;
      }
      if (!node.data.trim()) { endsOpen = false; continue; }
      const found = blockOf(node);
      if (!found) { endsOpen = false; continue; }
      const style = getComputedStyle(node.parentElement);
      if (style.visibility === 'hidden') continue;
      const look = [sizeOf(node.parentElement), +style.fontWeight, turnOf(node.parentElement)];
      for (const match of node.data.matchAll(/\S+/g)) {
        const isJoined = match.index === 0 && endsOpen && last === found[0];
        const parts = pieces(node, match.index, match.index + match[0].length);
        parts.forEach(([text, box], k) => {
          if (box.bottom > height + 1 || box.right < 0 || box.left > width - 2) return;
          if (style.textTransform === 'uppercase') text = text.toUpperCase();
          const isCut = k < parts.length - 1 && text.endsWith('\u00ad');
          text = text.replaceAll('\u00ad', '') + (isCut ? '-' : '');
          if (text) addWord(text, box, look, numberOf(...found), isJoined && k === 0);
        });
      }
      endsOpen = !/\s$/.test(node.data);
      last = found[0];
    }
  }

  const STYLES = ['none', 'hidden'];
  const rules = [], grounds = [], pictures = [], checks = [], seen = new Set();
  function addRule(x0, y0, x1, y1, width, style) {
    const values = [...[x0, y0, x1, y1, width].map(round), style];
    const key = values.slice(0, 4).map(Math.round).join(' ');
    if (seen.has(key) || Math.hypot(x1 - x0, y1 - y0) < 4) return;
    seen.add(key);
    rules.push(values);
  }
  // A row of dashes or dots set in type: a rule through their middle, as wide as they are high.
  function addRow(e) {
    const size = sizeOf(e), [middle, high] = e.dataset.rule.split(' ').map(parseFloat);
    const b = e.getBoundingClientRect(), around = e.parentElement.getBoundingClientRect();
    const baseline = e.querySelector('i').getBoundingClientRect().bottom;
    const y = baseline - middle * size;
    addRule(Math.max(b.left, around.left), y, Math.min(b.right, around.right), y, Math.max(1, high * size), 'signs');
  }
  const isClear = color => /^transparent$|^rgba\(.*, 0\)$/.test(color);

  function readShapes() {
    for (const e of document.body.querySelectorAll('*')) {
      const s = getComputedStyle(e), b = e.getBoundingClientRect();
      if (!b.width && !b.height) continue;
      const [l, t, r, o] = [b.left, b.top, b.right, b.bottom];
      if (attribute(e, 'role') === 'checkbox') continue;
      const sides = {
        Top: half => [l, t + half, r, t + half],
        Bottom: half => [l, o - half, r, o - half],
        Left: half => [l + half, t, l + half, o],
        Right: half => [r - half, t, r - half, o],
      };
      for (const [side, place] of Object.entries(sides)) {
        const width = parseFloat(s[`border${side}Width`]), style = s[`border${side}Style`];
        const isSeen = width > 0 && !STYLES.includes(style) && !isClear(s[`border${side}Color`]);
        if (isSeen) addRule(...place(width / 2), width, style);
      }
      if (e.tagName === 'HR' && !parseFloat(s.borderTopWidth)) addRule(l, t, r, t, b.height, 'solid');
      const columns = +s.columnCount, line = parseFloat(s.columnRuleWidth);
      if (columns > 1 && line && !STYLES.includes(s.columnRuleStyle)) {
        const step = (b.width + parseFloat(s.columnGap)) / columns;
        for (let k = 1; k < columns; k++) {
          const x = l + k * step - parseFloat(s.columnGap) / 2;
          addRule(x, t, x, o, line, s.columnRuleStyle);
        }
      }
      if (e.dataset.rule !== undefined) addRow(e);
      if (e.tagName === 'line') addRule(l, t, r, o, parseFloat(s.strokeWidth), 'solid');
      if (e.dataset.picture !== undefined || e.tagName === 'svg') {
        pictures.push([l, t, r, o].map(round));
      } else if (!isClear(s.backgroundColor) && !e.closest('svg, [data-picture]') && b.width > 8 && b.height > 8) {
        const [red, green, blue] = s.backgroundColor.match(/[\d.]+/g).map(Number);
        grounds.push([...[l, t, r, o].map(round), Math.round(0.3 * red + 0.59 * green + 0.11 * blue)]);
      }
    }
  }

  return height => {
    writeMarks();
    narrow();
    fit(height);
    const size = [document.body.offsetWidth, Math.max(height, document.body.offsetHeight)];
    readWords(...size);
    readShapes();
    return {size, blocks, words, rules, grounds, pictures, checks};
  };
})()
