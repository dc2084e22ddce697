import { RockpoolError } from '@rockpool/shared';
import { readMigrations } from './read-migrations.ts';
import type { ClientOptions, SyncOptions } from '../interface/client-options.ts';
import type { PersistenceChoice } from '../rpc/persistence.ts';
import type { TransportName } from '../rpc/transport.ts';

/** A name becomes part of file and lock names; 64 characters leave room for what Rockpool adds. */
const NAME = /^[a-z\d][\w.-]{0,63}$/i;

const CHOICES: readonly PersistenceChoice[] = ['durable', 'opfs', 'opfs-exclusive', 'indexeddb', 'memory'];

const TRANSPORTS: readonly TransportName[] = ['auto', 'websocket', 'http'];

/** Throws `config-invalid` with all problems at once. JavaScript callers have no type checks. */
export function checkOptions(options: ClientOptions): void {
  const problems: string[] = [];
  const {
    name,
    schema,
    migrations,
    sync,
    durability = 'relaxed',
    persistence = 'durable',
  } = options ?? ({} as ClientOptions);

  if (typeof name !== 'string' || !NAME.test(name)) {
    problems.push('name: must be 1 to 64 letters, digits, "_" or "-" or ".", and start with a letter or digit');
  }
  if (!Array.isArray(schema?.tables) || typeof schema?.hash !== 'string')
    problems.push('schema: must be the return value of defineSchema');
  if (durability !== 'relaxed' && durability !== 'strict') problems.push('durability: must be one of relaxed, strict');
  if (!CHOICES.includes(persistence)) problems.push(`persistence: must be one of ${CHOICES.join(', ')}`);
  if (migrations !== undefined) {
    if (!Array.isArray(migrations?.journal?.entries) || typeof migrations.migrations !== 'object')
      problems.push('migrations: must contain the journal and the migrations that drizzle-kit generated');
    else
      for (const tag of readMigrations(migrations).missing) problems.push(`migrations: the SQL of ${tag} is missing`);
  }
  if (sync !== undefined) {
    const { url, databaseId, principal = 'none', transport = 'auto', token } = sync ?? ({} as SyncOptions);
    const protocol = URL.parse(url)?.protocol;
    if (protocol !== 'ws:' && protocol !== 'wss:') problems.push('sync.url: must be an absolute wss: or ws: URL');
    // The server refuses every other id, as if the user had no access to it.
    if (typeof databaseId !== 'string' || !/^[\w-]{1,64}$/.test(databaseId))
      problems.push('sync.databaseId: must be 1 to 64 letters, digits, "_" or "-"');
    if (typeof principal !== 'string' || principal === '') problems.push('sync.principal: must be a non-empty string');
    if (!TRANSPORTS.includes(transport)) problems.push(`sync.transport: must be one of ${TRANSPORTS.join(', ')}`);
    if (typeof token !== 'function') problems.push('sync.token: must be a function');
  }

  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}
