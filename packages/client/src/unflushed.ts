import { RockpoolError } from '@rockpool/shared';

/** Whether a write that failed with this is committed all the same: made again, it would be made twice. */
export function isUnflushed(thrown: unknown): boolean {
  return thrown instanceof RockpoolError && thrown.code === 'storage-unflushed';
}
