import type { DatabaseOutline } from '../store/database-outline.ts';
import type { Operation } from './lifecycle.ts';

/** Whether clients can use a database, or the operation that an operator runs on it. */
export type DatabaseState = 'online' | 'damaged' | 'unloaded' | Exclude<Operation, 'reading'>;

export function databaseState({ damage, unloadedMs }: DatabaseOutline, operation: Operation | null): DatabaseState {
  if (operation !== null && operation !== 'reading') return operation;
  if (unloadedMs !== null) return 'unloaded';
  return damage === null ? 'online' : 'damaged';
}
