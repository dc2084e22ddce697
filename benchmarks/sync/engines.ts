import type { Engine } from './engine.ts';

export interface SyncSubject {
  readonly name: string;
  readonly variant: string;
  readonly engine: EngineName;
  /** Workloads that it does not run, with the reason for the report. */
  readonly lacks?: Readonly<Record<string, string>>;
}

export type EngineName = 'evolu' | 'hocuspocus' | 'jazz' | 'rockpool' | 'tinybase' | 'triplit';

export const ENGINES: Readonly<Record<EngineName, () => Promise<{ readonly engine: Engine }>>> = {
  evolu: () => import('./engines/evolu.ts'),
  hocuspocus: () => import('./engines/hocuspocus.ts'),
  jazz: () => import('./engines/jazz.ts'),
  rockpool: () => import('./engines/rockpool.ts'),
  tinybase: () => import('./engines/tinybase.ts'),
  triplit: () => import('./engines/triplit.ts'),
};

export const SYNC_SUBJECTS: readonly SyncSubject[] = [
  { name: 'rockpool', variant: '', engine: 'rockpool' },
  { name: 'Hocuspocus', variant: '', engine: 'hocuspocus' },
  { name: 'Evolu', variant: 'encrypted', engine: 'evolu' },
  { name: 'Jazz', variant: '', engine: 'jazz', lacks: { S1: 'minutes to write 100,000 rows' } },
  {
    name: 'TinyBase',
    variant: '',
    engine: 'tinybase',
    lacks: { S1: 'a message holds 16 MB: of 100,000 rows a second client gets none' },
  },
  { name: 'Triplit', variant: 'server in memory', engine: 'triplit', lacks: { S1: 'minutes to write 100,000 rows' } },
];
