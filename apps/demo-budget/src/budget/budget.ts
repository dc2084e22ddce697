/** The credentials of a budget: its database on the sync server, and the secret in its share link. */
export interface Budget {
  /** 32 hexadecimal digits: 128 random bits. */
  readonly databaseId: string;
  /** 43 characters of base64url: 256 random bits. Anyone who has the secret may read and change the budget. */
  readonly shareKey: string;
}

/** A member's role. An owner also manages the members. */
export type BudgetRole = 'owner' | 'editor' | 'viewer';

export function isBudgetRole(value: unknown): value is BudgetRole {
  return value === 'owner' || value === 'editor' || value === 'viewer';
}

/** A new budget. Both parts are random, so a device creates them without a server, and they cannot be guessed. */
export function makeBudget(): Budget {
  const id = crypto.getRandomValues(new Uint8Array(16));
  return { databaseId: toHex(id), shareKey: makeShareKey() };
}

/** A new key for a budget or for one of its members. */
export function makeShareKey(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

export function isDatabaseId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{32}$/.test(value);
}

export function isShareKey(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{43}$/.test(value);
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
