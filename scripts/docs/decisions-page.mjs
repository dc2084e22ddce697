import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../children.mjs';

const folder = join(root, 'docs/decisions');

/** docs/decisions/index.md: number, title and summary of each record. Throws if a record has no summary. */
export function decisionsPage() {
  const records = readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.md$/.test(name))
    .sort()
    .map((name) => {
      const [, number, title, summary] =
        /^# (\d{4}): (.+)\n\n(?!#)((?:.+\n)+)\n/.exec(readFileSync(join(folder, name), 'utf8')) ?? [];
      if (number === undefined || number !== name.slice(0, 4))
        throw new Error(`${name} must begin with "# NUMBER: title", a blank line, and a summary of one paragraph`);
      return `- [${number}: ${title}](${name})<br>${summary?.trim().replaceAll('\n', ' ')}`;
    });
  return `# Decisions

What was decided, why, and which tests hold it. A record keeps the numbers that were measured when it was written; a later record says so
where it replaces an earlier one.

${records.join('\n')}
`;
}
