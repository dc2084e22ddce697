export { RockpoolProvider, useClient, type RockpoolProviderProps } from './client-context.ts';
export { useLiveQuery } from './use-live-query.ts';
export { useSyncStatus } from './use-sync-status.ts';
