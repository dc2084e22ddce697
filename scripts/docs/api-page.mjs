import { exportedNames, findDeclaration, withNarrowComments } from './declarations.mjs';

/** @type {[entry: string, path: string, about: string][]} */
const ENTRIES = [
  ['@rockpool/client', 'packages/client/src/index.ts', 'The client: one database in one tab.'],
  [
    '@rockpool/client/schema',
    'packages/client/src/schema/index.ts',
    'The schema. It loads nothing of the browser, so a build step or the server can import it.',
  ],
  ['@rockpool/client/react', 'packages/client/src/react/index.ts', 'Hooks for React 18 and later.'],
  ['@rockpool/client/drizzle', 'packages/client/src/drizzle/index.ts', 'Drizzle over a client.'],
  ['@rockpool/client/node', 'packages/client/src/node/index.ts', 'The client in Node, in memory, for tests.'],
  ['@rockpool/client/devtools', 'packages/client/src/devtools/index.ts', 'A panel for development.'],
  ['@rockpool/sync-server', 'packages/sync-server/src/index.ts', 'The server.'],
];

/** docs/api.md: the exported declarations of each package entry. */
export function apiPage() {
  /** @type {Map<string, string>} the entry that documents a declaration, by its code */
  const shown = new Map();
  const sections = ENTRIES.map(([entry, path, about]) => {
    const parts = exportedNames(path).map((name) => {
      const declaration = findDeclaration(path, name);
      if (declaration === undefined) return `### \`${name}\`\n`;
      const before = shown.get(declaration.code);
      if (before !== undefined) return `### \`${name}\`\n\nThe same as in \`${before}\`.\n`;
      shown.set(declaration.code, entry);
      const doc = declaration.doc === '' ? '' : `${declaration.doc}\n\n`;
      return `### \`${name}\`\n\n${doc}\`\`\`ts\n${withNarrowComments(declaration.code)}\n\`\`\`\n`;
    });
    return `## \`${entry}\`\n\n${about}\n\n${parts.join('\n')}`;
  });
  return `# API

What each entry of the packages exports, as the sources declare it. \`@rockpool/vfs-opfs\` is usable on its own and has a README;
\`@rockpool/shared\` has no public API. The [client guide](guides/client.md) shows how the parts work together.

${sections.join('\n')}`;
}
