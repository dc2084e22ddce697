import { RockpoolError } from '@rockpool/shared';

/** Returns whether a write that failed with this error is committed anyway. Repeating it would write twice. */
export function isUnflushed(thrown: unknown): boolean {
  return thrown instanceof RockpoolError && thrown.code === 'storage-unflushed';
}
