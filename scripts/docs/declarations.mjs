// Reads exported declarations with their doc comments from the TypeScript sources.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'vite';
import { root } from '../children.mjs';

/**
 * @typedef {object} Declaration
 * @property {string} name
 * @property {'class' | 'const' | 'function' | 'interface' | 'type'} kind
 * @property {string} doc the text of its doc comment; may be empty
 * @property {string} code without bodies of functions and without the doc comment in front
 * @property {Member[]} members of an interface
 */

/** @typedef {{ name: string, type: string, doc: string }} Member */

/** @typedef {any} Node of the syntax tree; the parser's types do not cover what is read here */

/** @type {Map<string, { source: string, body: Node[], comments: Node[] }>} */
const parsed = new Map();

/** @param {string} path from the repository's root */
function parse(path) {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const source = readFileSync(join(root, path), 'utf8');
  const { program, comments } = parseSync(path, source, { lang: path.endsWith('x') ? 'tsx' : 'ts' });
  const file = { source, body: program.body, comments };
  parsed.set(path, file);
  return file;
}

/**
 * @param {string} from
 * @param {string} specifier
 */
function resolve(from, specifier) {
  if (specifier.startsWith('.')) return join(dirname(from), specifier);
  const [, name, entry] = /^@rockpool\/([\w-]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const { exports } = JSON.parse(readFileSync(join(root, `packages/${name}/package.json`), 'utf8'));
  return join(`packages/${name}`, exports[entry === undefined ? '.' : `./${entry}`]);
}

/**
 * Names that a module exports, sorted.
 *
 * @param {string} path
 */
export function exportedNames(path) {
  return parse(path)
    .body.flatMap((/** @type {Node} */ node) => {
      if (node.type !== 'ExportNamedDeclaration') return [];
      if (node.declaration !== null) return declaredNames(node.declaration);
      return node.specifiers.map((/** @type {Node} */ { exported }) => exported.name);
    })
    .sort((/** @type {string} */ one, /** @type {string} */ other) =>
      one.toLowerCase() < other.toLowerCase() ? -1 : 1,
    );
}

/**
 * Follows re-exports to the declaration. Overloads of a function are one declaration.
 *
 * @param {string} path
 * @param {string} name
 * @returns {Declaration | undefined} undefined if another package declares it
 */
export function findDeclaration(path, name) {
  const { body } = parse(path);
  const nodes = body.filter((node) => declaredNames(node.declaration ?? node).includes(name));
  if (nodes.length > 0) return read(path, name, nodes);
  for (const node of body) {
    const isExport = node.type === 'ExportNamedDeclaration';
    if (!isExport && node.type !== 'ImportDeclaration') continue;
    const specifier = node.specifiers?.find(
      (/** @type {Node} */ one) => (isExport ? one.exported.name : one.local.name) === name && node.source !== null,
    );
    if (specifier === undefined) continue;
    const target = resolve(path, node.source.value);
    return target === undefined
      ? undefined
      : findDeclaration(target, isExport ? specifier.local.name : specifier.imported.name);
  }
  return undefined;
}

/**
 * Finds an exported interface anywhere below a folder, so that pages survive moves of files.
 *
 * @param {string} folder
 * @param {string} name
 */
export function findInFolder(folder, name) {
  for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort()) {
    if (!file.endsWith('.ts') || file.includes('.test.') || file.includes('node_modules')) continue;
    if (!readFileSync(join(root, folder, file), 'utf8').includes(`export interface ${name} `)) continue;
    const found = findDeclaration(join(folder, file), name);
    if (found !== undefined) return found;
  }
  throw new Error(`no file below ${folder} exports ${name}`);
}

/** @param {Node} node @returns {string[]} */
function declaredNames(node) {
  switch (node?.type) {
    case 'VariableDeclaration':
      return node.declarations.map((/** @type {Node} */ { id }) => id.name);
    case 'ClassDeclaration':
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return [node.id.name];
    default:
      return [];
  }
}

/**
 * @param {string} path
 * @param {string} name
 * @param {Node[]} nodes
 * @returns {Declaration}
 */
function read(path, name, nodes) {
  const file = parse(path);
  const [first] = nodes;
  const declaration = first.declaration ?? first;
  const kind = kindOf(declaration);
  const signatures = kind === 'function' && nodes.length > 1 ? nodes.filter((node) => !hasBody(node)) : nodes;
  const code = signatures.map((node) => codeOf(file, node.declaration ?? node)).join('\n');
  const members =
    kind === 'interface'
      ? declaration.body.body
          .filter((/** @type {Node} */ { key }) => key?.name !== undefined)
          .map((/** @type {Node} */ member) => ({
            name: member.key.name + (member.optional ? '?' : ''),
            type: memberType(file.source, member),
            doc: docBefore(file, member.start),
          }))
      : [];
  return { name, kind, doc: docBefore(file, first.start), code, members };
}

/** @param {Node} node */
const hasBody = (node) => (node.declaration ?? node).body !== null && (node.declaration ?? node).body !== undefined;

/** @param {Node} node @returns {Declaration['kind']} */
function kindOf({ type }) {
  if (type === 'ClassDeclaration') return 'class';
  if (type === 'VariableDeclaration') return 'const';
  if (type === 'TSInterfaceDeclaration') return 'interface';
  return type === 'TSTypeAliasDeclaration' ? 'type' : 'function';
}

/**
 * @param {string} source
 * @param {Node} member
 */
function memberType(source, member) {
  const text = source.slice(member.key.end, member.end).replace(/^\?/, '').replace(/;$/, '');
  return text.replace(/^:\s*/, '').replace(/\s+/g, ' ').trim();
}

/**
 * @param {{ source: string, comments: Node[] }} file
 * @param {Node} node
 */
function codeOf(file, node) {
  const { source } = file;
  switch (node.type) {
    case 'FunctionDeclaration':
      return `${source.slice(node.start, node.body.start).trim()};`;
    case 'VariableDeclaration': {
      const [{ id, init }] = node.declarations;
      const value = (id.typeAnnotation ?? null) === null ? ` = ${source.slice(init.start, init.end)}` : '';
      return `const ${source.slice(id.start, id.end)}${value};`;
    }
    case 'ClassDeclaration': {
      const members = node.body.body
        .filter(
          (/** @type {Node} */ { accessibility, key }) =>
            accessibility !== 'private' && key?.type !== 'PrivateIdentifier',
        )
        .map((/** @type {Node} */ member) => {
          const end = member.value?.body?.start ?? member.end;
          const text = `${source.slice(member.start, end).trim().replace(/;$/, '')};`;
          const doc = commentBefore(file, member.start);
          return doc === undefined ? `  ${text}` : `  ${source.slice(doc.start, doc.end)}\n  ${text}`;
        });
      return `${source.slice(node.start, node.body.start).trim()} {\n${members.join('\n')}\n}`;
    }
    default:
      return source.slice(node.start, node.end);
  }
}

/**
 * @param {{ source: string, comments: Node[] }} file
 * @param {number} start
 */
function commentBefore({ source, comments }, start) {
  return comments.find(
    ({ type, value, end }) =>
      type === 'Block' && value.startsWith('*') && end <= start && source.slice(end, start).trim() === '',
  );
}

/**
 * @param {{ source: string, comments: Node[] }} file
 * @param {number} start
 */
function docBefore(file, start) {
  const comment = commentBefore(file, start);
  if (comment === undefined) return '';
  return comment.value
    .slice(1)
    .split('\n')
    .map((/** @type {string} */ line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
}

/** Number of columns that the site shows without horizontal scrolling. */
const NARROW = 80;

/**
 * Wraps the doc comments inside a declaration for a narrow page. Examples and lists keep their lines.
 *
 * @param {string} code
 */
export function withNarrowComments(code) {
  return code.replace(/^([ ]*)\/\*\*(.*?)\*\//gms, (_, indent, text) => {
    /** @type {string[]} */
    const lines = [];
    let isCode = false;
    let isOpen = false;
    for (const raw of text.split('\n')) {
      const line = raw.replace(/^\s*\* ?/, '').trimEnd();
      if (line.startsWith('```')) isCode = !isCode;
      const startsOver = isCode || line.startsWith('```') || line.trim() === '' || /^\s*[-*] /.test(line);
      if (startsOver || !isOpen) lines.push(isCode ? line : line.trim());
      else lines.push(`${lines.pop()} ${line.trim()}`);
      isOpen = !isCode && line.trim() !== '' && !line.startsWith('```');
    }
    const width = NARROW - indent.length - 3;
    const wrapped = lines
      .join('\n')
      .trim()
      .split('\n')
      .flatMap((line) => wrap(line, width));
    const [only = ''] = wrapped;
    if (wrapped.length === 1 && only.length <= width - 4) return `${indent}/** ${only} */`;
    return [`${indent}/**`, ...wrapped.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join('\n');
  });
}

/**
 * @param {string} line
 * @param {number} width
 */
function wrap(line, width) {
  /** @type {string[]} */
  const lines = [];
  const hang = line.startsWith('- ') ? '  ' : '';
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= width) lines.splice(-1, 1, `${last} ${word}`);
    else lines.push(last === undefined ? word : hang + word);
  }
  return lines;
}

/**
 * A Markdown table of the members of an interface.
 *
 * @param {readonly Member[]} members
 * @param {Readonly<Record<string, unknown>>} [defaults] adds a column
 */
export function memberTable(members, defaults) {
  const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
  const head = defaults === undefined ? ['option', 'type', 'meaning'] : ['option', 'default', 'meaning'];
  const rows = members.map(({ name, type, doc }) => {
    const middle = defaults === undefined ? type : JSON.stringify(defaults[name.replace('?', '')]);
    return [`\`${name}\``, `\`${cell(middle)}\``, cell(doc)];
  });
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
