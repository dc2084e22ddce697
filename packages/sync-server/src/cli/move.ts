import { isDatabaseId } from '../auth/gate.ts';
import { PostgresAdministration } from '../store/postgres/administration.ts';
import { MOVE_SETTINGS } from './config.ts';
import { readPostgresSource, throwIfProblems } from './read-values.ts';
import { readSettings, type Sources } from './settings.ts';

/**
 * Moves a database to another shard while instances run, and prints each step. The same command completes a move that
 * was interrupted. Throws `config-invalid` or `storage-missing`, and `database-unavailable` if the same command may
 * succeed later.
 */
export async function runMove(sources: Sources, print: (line: string) => void): Promise<void> {
  const problems: string[] = [];
  const given = readSettings(MOVE_SETTINGS, sources, problems);
  given.required('shards');
  const shards = readPostgresSource(given, problems);
  const to = given.required('to');
  const [databaseId = '', ...more] = given.positionals;
  if (databaseId === '') problems.push('move: DATABASE is missing');
  else if (!isDatabaseId(databaseId)) problems.push('a database id must consist of 1 to 64 letters, digits, _ or -');
  for (const extra of more) problems.push(`unknown argument ${extra}`);
  if (to !== '' && problems.length === 0 && Array.isArray(shards) && !shards.some(({ name }) => name === to))
    problems.push(`--to: the list has no shard ${to}`);
  throwIfProblems(problems);
  await PostgresAdministration.use(shards ?? [], (administration) => administration.move(databaseId, to, print));
}
