import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { replay, type EditingTrace, type ReplayFigures } from '../../tests/documents/replay.ts';
import { typist } from '../../tests/documents/typist.ts';
import type { Target } from '../report/target.ts';

export interface Trace {
  readonly name: string;
  readonly trace: EditingTrace;
}

/** The trace of a simulated person: 400 saves of one text, or 100 if quick. */
export function typedTrace(isQuick: boolean): Trace {
  return { name: 'typed', trace: typist(1, isQuick ? 2_000 : 8_000) };
}

/** A file in the format of github.com/josephg/editing-traces, sequential. */
export function traceFrom(path: string): Trace {
  return { name: basename(path, '.json'), trace: JSON.parse(readFileSync(path, 'utf8')) as EditingTrace };
}

export const WHEN = ['offline', 'online'] as const;

const MEASURES: readonly {
  readonly test: string;
  readonly unit: string;
  readonly of: (figures: ReplayFigures) => number;
}[] = [
  { test: 'bytes up', unit: 'bytes', of: ({ upBytes }) => upBytes },
  { test: 'bytes down', unit: 'bytes', of: ({ readerDownBytes }) => readerDownBytes },
  { test: 'down / up', unit: '×', of: ({ readerDownBytes, upBytes }) => readerDownBytes / upBytes },
  {
    test: 'file / state',
    unit: '×',
    of: ({ writerFileBytes, emptyFileBytes, stateBytes }) => (writerFileBytes - emptyFileBytes) / stateBytes,
  },
  { test: 'CPU per save', unit: 'ms', of: ({ settleCpuMs, saves }) => settleCpuMs / saves },
];

/** Replays a trace on one device, with a save every 20 transactions, while a second device reads. In Node. */
export async function measureReplay(
  { name, trace }: Trace,
  when: (typeof WHEN)[number],
): Promise<{ readonly workload: string; readonly unit: string; readonly value: number }[]> {
  const figures = await replay(trace, { every: 20, when });
  return MEASURES.map(({ test, unit, of }) => ({ workload: `${name} ${when}: ${test}`, unit, value: of(figures) }));
}

/** What the bytes of the writer's file are used for. */
const FILE_ACCOUNT =
  'one changeset per save: the file has up to 127 admitted changesets unpacked or in small packs, so that none is compressed more than twice';

export function replayTargets({ name }: Trace): Target[] {
  const title = 'an editing trace, saved every 20 transactions';
  const target = (workload: string, atMost: number): Target => ({
    workload: `${name} ${workload}`,
    title,
    variant: '',
    atMost,
    of: 'absolute',
  });
  return [
    ...WHEN.flatMap((when) => [
      target(`${when}: down / up`, 1.5),
      { ...target(`${when}: file / state`, 10), account: FILE_ACCOUNT },
    ]),
    // The target: 921 saves that were made offline are pushed within 5 s.
    target('offline: CPU per save', 5.43),
  ];
}
