import { RockpoolError } from '../errors/rockpool-error.ts';

/*
 * Readers for parts of a schema file, which trust nothing. Each throws `schema-invalid` and names the part by `what`.
 */

export function invalid(problem: string): never {
  throw new RockpoolError('schema-invalid', { count: 1, problems: problem });
}

export function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return invalid('the schema is not JSON');
  }
}

export function object(value: unknown, what: string): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : invalid(`${what} should be an object`);
}

export function list(value: unknown, what: string): unknown[] {
  return Array.isArray(value) ? value : invalid(`${what} should be a list`);
}

export function text(value: unknown, what: string): string {
  return typeof value === 'string' && value.length > 0 ? value : invalid(`${what} should be text`);
}

export function textOrNull(value: unknown, what: string): string | null {
  return value === null ? null : text(value, what);
}

export function texts(value: unknown, what: string): string[] {
  return list(value, what).map((item) => text(item, what));
}

export function flag(value: unknown, what: string): boolean {
  return typeof value === 'boolean' ? value : invalid(`${what} should be true or false`);
}

export function wholeNumber(value: unknown, what: string): number {
  return Number.isSafeInteger(value) ? (value as number) : invalid(`${what} should be a whole number`);
}

export function oneOf(value: unknown, allowed: readonly string[], what: string): string {
  return typeof value === 'string' && allowed.includes(value) ? value : invalid(`${what} is unknown`);
}
