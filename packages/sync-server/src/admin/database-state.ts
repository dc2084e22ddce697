import type { DatabaseOutline } from '../store/database-outline.ts';
import type { LifecycleOperation } from './lifecycle.ts';

/** Whether clients can use a database, or the operation that an operator runs on it. */
export type DatabaseState = 'online' | 'damaged' | 'unloaded' | Exclude<LifecycleOperation, 'reading'>;

export function databaseState(
  { damage, unloadedMs }: DatabaseOutline,
  operation: LifecycleOperation | null,
): DatabaseState {
  if (operation !== null && operation !== 'reading') return operation;
  if (unloadedMs !== null) return 'unloaded';
  return damage === null ? 'online' : 'damaged';
}
