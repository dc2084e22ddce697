import { RockpoolError } from '@rockpool/shared';
import { readMigrations } from './read-migrations.ts';
import type { ClientOptions, PersistenceChoice } from '../client.ts';

/** A name becomes part of file and lock names; 64 characters leave room for what Rockpool adds. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const CHOICES: readonly PersistenceChoice[] = ['durable', 'opfs', 'opfs-exclusive', 'indexeddb', 'memory'];

/** Throws `config-invalid` with all problems at once. Callers in JavaScript are not held by types. */
export function checkOptions(options: ClientOptions): void {
  const problems: string[] = [];
  const { name, schema, migrations, sync, durability = 'relaxed', persistence = 'durable' } = options;

  if (typeof name !== 'string' || !NAME.test(name)) {
    problems.push('name: it takes 1 to 64 letters, digits, "_", "-" or ".", beginning with a letter or digit');
  }
  if (!Array.isArray(schema?.tables) || typeof schema?.hash !== 'string')
    problems.push('schema: this is not what defineSchema returns');
  if (durability !== 'relaxed' && durability !== 'strict') problems.push('durability: it is "relaxed" or "strict"');
  if (!CHOICES.includes(persistence)) problems.push(`persistence: it is one of ${CHOICES.join(', ')}`);
  if (migrations !== undefined) {
    if (!Array.isArray(migrations.journal?.entries) || typeof migrations.migrations !== 'object')
      problems.push('migrations: it takes the journal and the migrations that drizzle-kit made');
    else
      for (const tag of readMigrations(migrations).missing) problems.push(`migrations: the SQL of ${tag} is missing`);
  }
  if (sync !== undefined) {
    const protocol = URL.parse(sync.url)?.protocol;
    if (protocol !== 'ws:' && protocol !== 'wss:')
      problems.push('sync.url: it is an absolute URL of the protocol wss: or ws:');
    if (typeof sync.databaseId !== 'string' || sync.databaseId === '') problems.push('sync.databaseId: it is missing');
    if (sync.principal !== undefined && (typeof sync.principal !== 'string' || sync.principal === ''))
      problems.push('sync.principal: it is a text, or left out');
    if (typeof sync.token !== 'function') problems.push('sync.token: it is a function that gives a token');
  }

  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}
