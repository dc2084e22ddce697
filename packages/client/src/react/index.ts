export { RockpoolProvider, useClient, type RockpoolProviderProps } from './client-context.ts';
export { useDocument, type DocumentState } from './use-document.ts';
export { useLiveQuery, type MakeLiveQuery } from './use-live-query.ts';
export { usePresence } from './use-presence.ts';
export { useSuspenseLiveQuery } from './use-suspense-live-query.ts';
export { useSyncStatus } from './use-sync-status.ts';
export { useRowHistory, type RowHistoryInUse } from './use-row-history.ts';
export { useRowSyncState } from './use-row-sync-state.ts';
