import { readFileSync } from 'node:fs';
import { decodeSchema, RockpoolError, type Schema } from '@rockpool/shared';
import type { BackupPlace } from '../backup/open-destination.ts';
import { isHttpUrl } from '../auth/http-url.ts';
import { previousSecretProblem, secretFromFile, secretProblem } from '../auth/secret.ts';
import { shardProblems, type PostgresSource, type Shard } from '../postgres/shard.ts';
import { parseTime, TIME_FORM } from '../history/parse-time.ts';
import type { ParsedSettings } from './settings.ts';

export function readPort(text: string, problems: string[]): number {
  const port = Number(text);
  if (text !== '' && !(/^\d+$/.test(text) && port <= 65_535)) problems.push('--port takes a number from 0 to 65535');
  return port;
}

/** Reads `HOST:PORT`; an IPv6 host is in brackets. */
export function readAddress(name: string, text: string, problems: string[]): { host: string; port: number } {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535) problems.push(`--${name} takes HOST:PORT, such as 127.0.0.1:9464`);
  return { host: bracketed ?? plain ?? '', port: Number(port) };
}

/** Reads the first line of the file. */
export function readTokenFile(
  name: string,
  path: string,
  problemOf: (token: string) => string | null,
  problems: string[],
): string {
  const content = readFile(path, name, problems);
  const [token = ''] = new TextDecoder().decode(content ?? new Uint8Array()).split('\n');
  const problem = content === null ? null : problemOf(token.trim());
  if (problem !== null) problems.push(`--${name}: ${problem}`);
  return token.trim();
}

/** Never quotes the URL in a problem, because it may contain a password. */
export function readPostgres(text: string, problems: string[]): string {
  const { protocol = '' } = URL.canParse(text) ? new URL(text) : {};
  if (text !== '' && protocol !== 'postgresql:' && protocol !== 'postgres:')
    problems.push('--postgres takes a URL such as postgresql://user@host/name');
  return text;
}

/**
 * Reads the location of databases in PostgreSQL: the URL of `--postgres`, or the list of shards in the file of
 * `--shards`. Null if neither is given. Never quotes a URL.
 */
export function readPostgresSource(given: ParsedSettings, problems: string[]): PostgresSource | null {
  const url = readPostgres(given.text('postgres'), problems);
  const path = given.text('shards');
  if (path === '') return url === '' ? null : url;
  if (url !== '') problems.push('use --postgres or --shards, not both');
  const content = readFile(path, 'shards', problems);
  if (content === null) return [];
  let list: unknown;
  try {
    list = JSON.parse(new TextDecoder().decode(content));
  } catch {
    list = null;
  }
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one))) {
    problems.push('--shards: the file is not a JSON array of { "name", "url", "weight" }');
    return [];
  }
  for (const [i, entry] of list.entries())
    for (const name of Object.keys(entry as object))
      if (!['name', 'url', 'weight'].includes(name))
        problems.push(`--shards: entry ${i + 1} has the unknown member ${name}`);
  problems.push(...shardProblems(list as Shard[]).map((problem) => `--shards: ${problem}`));
  return list as Shard[];
}

/** Where a command finds databases: in PostgreSQL, or in a data directory if `postgres` is null. */
export interface DatabasesPlace {
  readonly postgres: PostgresSource | null;
  readonly dataDir: string;
}

/**
 * Reads the place of databases for a command. As a flag, `--data` overrides a `--postgres` or `--shards` of the
 * environment or the file, which the instances of the machine use together with their own `--data`.
 */
export function readDatabasesPlace(given: ParsedSettings, problems: string[]): DatabasesPlace {
  if (!given.isFlag('data')) {
    const postgres = readPostgresSource(given, problems);
    return { postgres, dataDir: postgres === null ? given.required('data') : '' };
  }
  for (const other of ['postgres', 'shards'])
    if (given.isFlag(other)) problems.push(`use --data or --${other}, not both`);
  return { postgres: null, dataDir: given.text('data') };
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function readDurationMs(name: string, text: string, problems: string[]): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const durationMs = Number(count) * (UNIT_MS[unit ?? ''] ?? 0);
  if (text !== '' && !(durationMs > 0)) problems.push(`--${name} takes a number and s, m, h or d, such as 12h`);
  return durationMs;
}

const UNIT_BYTES: Readonly<Record<string, number>> = { m: 1024 ** 2, g: 1024 ** 3 };

/** Null if no size is given. */
export function readSizeBytes(name: string, text: string, problems: string[]): number | null {
  if (text === '') return null;
  const [, count, unit] = /^(\d{1,6})([mg])$/.exec(text) ?? [];
  const sizeBytes = Number(count) * (UNIT_BYTES[unit ?? ''] ?? 0);
  if (!(sizeBytes > 0)) problems.push(`--${name} takes a number and m or g, such as 2g`);
  return sizeBytes;
}

export function readCount(name: string, text: string, problems: string[]): number {
  if (!/^\d{1,9}$/.test(text)) problems.push(`--${name} takes a whole number`);
  return Number(text);
}

/** Reads the secret from a file or the environment. Returns undefined if neither is given. */
export function readSecret(given: ParsedSettings, problems: string[]): Uint8Array | undefined {
  const path = given.text('secret-file');
  const content =
    path === '' ? new TextEncoder().encode(given.text('secret')) : readFile(path, 'secret-file', problems);
  if (content === null || (path === '' && content.length === 0)) return undefined;
  const secret = secretFromFile(content);
  const weakness = secretProblem(secret);
  if (weakness !== null) problems.push(`--secret-file: ${weakness}`);
  return secret;
}

/** Reads the previous secret. Returns undefined if none is given. */
export function readPreviousSecret(
  given: ParsedSettings,
  secret: Uint8Array | undefined,
  problems: string[],
): Uint8Array | undefined {
  const path = given.text('previous-secret-file');
  const content = path === '' ? null : readFile(path, 'previous-secret-file', problems);
  if (content === null) return undefined;
  const previous = secretFromFile(content);
  const problem = previousSecretProblem(secret, previous);
  if (problem !== null) problems.push(`--previous-secret-file: ${problem}`);
  return previous;
}

export function readSchema(path: string, problems: string[]): Schema | null {
  const content = path === '' ? null : readFile(path, 'schema', problems);
  if (content === null) return null;
  try {
    return decodeSchema(new TextDecoder().decode(content));
  } catch (error) {
    problems.push(
      `--schema: ${error instanceof RockpoolError ? (error.fields['problems'] ?? error.message) : 'the file cannot be read'}`,
    );
    return null;
  }
}

/** Reads a JWKS: its URL, or the content of a file. */
export function readKeySet(text: string, problems: string[]): URL | { keys: object[] } | undefined {
  if (text === '') return undefined;
  if (isHttpUrl(text)) return new URL(text);
  const content = readFile(text, 'key-set', problems);
  if (content === null) return undefined;
  try {
    const set = JSON.parse(new TextDecoder().decode(content)) as { keys?: unknown };
    if (Array.isArray(set.keys)) return set as { keys: object[] };
  } catch {
    // Reported below.
  }
  problems.push('--key-set is neither a URL nor a file with a JWKS');
  return undefined;
}

export function readFile(path: string, name: string, problems: string[]): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch {
    problems.push(`--${name}: ${path} cannot be read`);
    return null;
  }
}

/** Reads a time as ISO 8601, in ms since 1970. Null if none is given. */
export function readTime(name: string, text: string, problems: string[]): number | null {
  if (text === '') return null;
  const timeMs = parseTime(text);
  if (timeMs === null) problems.push(`--${name} takes a time ${TIME_FORM}`);
  return timeMs;
}

/** Reads the location of the storage for a backup. */
export function readBackupPlace(given: ParsedSettings, to: string): BackupPlace {
  const [endpoint, region] = [given.text('backup-endpoint'), given.text('backup-region')];
  return {
    to,
    ...(endpoint !== '' && { endpoint }),
    ...(region !== '' && { region }),
    ...(given.has('backup-path-style') && { pathStyle: true }),
  };
}

export function throwIfProblems(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}
