export type { DrizzleWrite } from './batch.ts';
export { drizzle, RockpoolDatabase, type DrizzleOptions } from './drizzle.ts';
export type { WriteResult } from './write-result.ts';
export { liveQuery, type DrizzleRead, type RowOf } from './live-query.ts';
export type { PlaceholderValues } from './prepared-query.ts';
export type { RockpoolTransaction } from './transaction.ts';
