import { RockpoolError } from '@rockpool/shared';

/** The maximum length of a branch's name, in bytes of UTF-8. The file name contains the name in hex. */
const MAX_NAME_BYTES = 32;
const HEX_DIGITS = 2 * MAX_NAME_BYTES;
const SUFFIX = /\.branch\.[\da-f]{64}$/;

/**
 * The name of a branch's database on this device. It is longer than any name that `createClient` accepts, so no app
 * opens a branch by accident and syncs it. Throws `config-invalid`.
 */
export function branchFile(origin: string, name: string): string {
  const bytes = new TextEncoder().encode(name);
  if (bytes.length === 0 || bytes.length > MAX_NAME_BYTES || name.includes('\0'))
    throw new RockpoolError('config-invalid', {
      problem: `a branch name must have 1 to ${MAX_NAME_BYTES} bytes of UTF-8, without NUL characters`,
    });
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${origin}.branch.${hex.padEnd(HEX_DIGITS, '0')}`;
}

/** Whether a stored database is a branch. */
export function isBranchFile(file: string): boolean {
  return SUFFIX.test(file);
}

/** Whether a stored database is a branch of `origin`. */
export function isBranchOf(file: string, origin: string): boolean {
  return isBranchFile(file) && file.replace(SUFFIX, '') === origin;
}

/** The name of the branch in a file. */
export function branchName(file: string): string {
  const hex = file.slice(-HEX_DIGITS).match(/../g) ?? [];
  return new TextDecoder().decode(Uint8Array.from(hex.map((byte) => parseInt(byte, 16)).filter((byte) => byte > 0)));
}

/**
 * The first part of the request id of every merge. It identifies a branch whose file was not deleted after its merge.
 */
export const MERGE_REQUEST_PREFIX = 'branch:';

/** Where the branch began; stored in its file. */
export interface BranchStart {
  /** The request id of the merge: MERGE_REQUEST_PREFIX and a random text. With it, a branch merges only once. */
  readonly id: string;
  /** The newest changeset of the origin. Later ones are the branch's own. */
  readonly sequence: number;
  /** The hash of the origin's schema. */
  readonly schemaHash: string;
  readonly begunMs: number;
}
