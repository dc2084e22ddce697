import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../children.mjs';

/** Types of the language, the platform and peer dependencies. */
const ELSEWHERE = new Set([
  ...['AbortSignal', 'ArrayBuffer', 'AsyncGenerator', 'Blob', 'Date', 'Error', 'Float64Array', 'NonNullable', 'Omit'],
  ...['Partial', 'Pick', 'Promise', 'Readonly', 'Record', 'Request', 'RequestInit'],
  ...['HTMLTextAreaElement', 'Response', 'Symbol', 'TemplateStringsArray', 'URL', 'Uint8Array'],
  ...['DependencyList', 'ReactElement', 'ReactNode'], // React
  ...['Awareness', 'Doc', 'Text', 'UndoManager'], // Yjs
  ...['Hono', 'JSONWebKeySet', 'Server'], // Hono, jose, node:http
  ...['BaseSQLiteDatabase', 'ExtractTablesWithRelations', 'SQL', 'SQLiteColumn', 'SQLiteSession'],
  ...['SQLiteTable', 'SQLiteTableWithColumns', 'SQLiteTransaction', 'SQLiteTransactionConfig'],
  ...['TablesRelationalConfig'], // Drizzle
]);

/** Declared by Rockpool but not exported, each with a reason. */
const NOT_EXPORTED = new Map([
  ['ERROR_KINDS', 'its keys are the codes of docs/errors.md'],
  ['Attributes', 'the formats of a run, which docs/guides/client.md describes'],
  ['TableSchema', 'apps pass a Schema on and do not read it'],
  ['RelationalDialect', 'apps do not construct a transaction'],
  ['RelationalSchema', 'apps do not construct a transaction'],
  ['VERSION_NAME_TABLE', 'the name `version_name`'],
  ['TextFacts', 'the type that Drizzle infers for a text column'],
  ['IntegerFacts', 'the type that Drizzle infers for an integer column'],
]);

const withoutTexts = (/** @type {string} */ code) =>
  code
    .replace(/\/\*\*.*?\*\//gs, '')
    .replace(/\/\/ .*$/gm, '')
    .replace(/'[^'\n]*'|`[^`]*`/g, '');

it('every type in the declarations of the API page is on the page', () => {
  const page = `${readFileSync(join(root, 'docs/api.md'), 'utf8')}\n## end`;
  const sections = [...page.matchAll(/^### `(\w+)`\n(.*?)(?=^##)/gms)];
  const shown = new Set(sections.map(([, name]) => name));
  const used = new Set();
  const missing = new Set();
  for (const [, name = '', section = ''] of sections) {
    const blocks = [...section.matchAll(/^```ts\n(.*?)^```/gms)];
    const code = withoutTexts(blocks.at(-1)?.[1] ?? '');
    const parameters = new Set(
      [...code.matchAll(/(?:[<,]\s*(?:const )?|infer |\[)(\w+)(?= extends\b| in\b| =|[>,)])/g)].map(([, one]) => one),
    );
    for (const [, type = ''] of code.matchAll(/(?<![\w.])([A-Z]\w+)\b/g)) {
      used.add(type);
      if (!shown.has(type) && !ELSEWHERE.has(type) && !NOT_EXPORTED.has(type) && !parameters.has(type))
        missing.add(`${name}: ${type}`);
    }
  }
  expect([...missing]).toEqual([]);
  expect([...NOT_EXPORTED.keys(), ...ELSEWHERE].filter((type) => !used.has(type))).toEqual([]);
});
