import { readFileSync } from 'node:fs';
import { decodeSchema, RockpoolError, type Schema } from '@rockpool/shared';
import { metricsTokenProblem } from '../auth/metrics-access.ts';
import { previousSecretProblem, secretFromFile, secretProblem } from '../auth/secret.ts';
import type { ParsedSettings } from './settings.ts';

export function readPort(text: string, problems: string[]): number {
  const port = Number(text);
  if (text !== '' && !(/^\d+$/.test(text) && port <= 65_535)) problems.push('--port takes a number from 0 to 65535');
  return port;
}

/** Reads `HOST:PORT`; a host of IPv6 is in brackets. */
export function readAddress(name: string, text: string, problems: string[]): { host: string; port: number } {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535) problems.push(`--${name} takes HOST:PORT, such as 127.0.0.1:9464`);
  return { host: bracketed ?? plain ?? '', port: Number(port) };
}

/** Reads the first line of the file. */
export function readMetricsToken(path: string, problems: string[]): string {
  const content = readFile(path, 'metrics-token-file', problems);
  const [token = ''] = new TextDecoder().decode(content ?? new Uint8Array()).split('\n');
  const problem = content === null ? null : metricsTokenProblem(token.trim());
  if (problem !== null) problems.push(`--metrics-token-file: ${problem}`);
  return token.trim();
}

/** Never quotes the URL in a problem, because it may hold a password. */
export function readPostgres(text: string, problems: string[]): string {
  const { protocol = '' } = URL.canParse(text) ? new URL(text) : {};
  if (text !== '' && protocol !== 'postgresql:' && protocol !== 'postgres:')
    problems.push('--postgres takes a URL such as postgresql://user@host/name');
  return text;
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
  if (content === null || content.length === 0) return undefined;
  const secret = secretFromFile(content);
  const weakness = secretProblem(secret);
  if (weakness !== null) problems.push(`--secret-file: ${weakness}`);
  return secret;
}

/** Reads the secret that was replaced. Returns undefined if none is given. */
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
  if (URL.canParse(text)) return new URL(text);
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

export function throwIfProblems(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}
