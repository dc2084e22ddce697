import { Session, type Profiler } from 'node:inspector';
import { stepOf } from './steps.ts';

const SAMPLING_INTERVAL_US = 100;

/** The profiler's names for an idle sample of this thread, and for its own work. */
const IDLE = '(idle)';
const PROFILER = 'node:inspector';
const OUTSIDE = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'Node: sockets, timers, promises'],
  ['(root)', 'Node: sockets, timers, promises'],
]);

export interface ProfiledWork {
  /** Microseconds of this thread's processor time by step, and how much of that is WebAssembly. */
  readonly stepUs: ReadonlyMap<string, StepTime>;
  /** Processor time of the whole process in microseconds, including the threads that run alongside this one. */
  readonly processUs: number;
  /** For the profiler of Chromium's devtools. */
  readonly profile: Profiler.Profile;
}

export interface StepTime {
  readonly totalUs: number;
  readonly wasmUs: number;
}

/** Runs the work under the sampling profiler. A sample counts for the innermost function that belongs to a step. */
export async function profileSteps(work: () => Promise<void>): Promise<ProfiledWork> {
  const session = new Session();
  session.connect();
  const post = (method: string, params: object = {}): Promise<object> =>
    new Promise((resolve, reject) =>
      session.post(method, params, (error, result) => (error === null ? resolve(result ?? {}) : reject(error))),
    );
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US });
  await post('Profiler.start');
  const before = process.cpuUsage();
  const threadBefore = process.threadCpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  const thread = process.threadCpuUsage(threadBefore);
  const { profile } = (await post('Profiler.stop')) as { readonly profile: Profiler.Profile };
  session.disconnect();
  const stepUs = scaledTo(thread.user + thread.system, sumBySteps(profile));
  return { stepUs, processUs: user + system, profile };
}

/**
 * Scales the samples to the thread's processor time. Samples measure elapsed time, in which a busy machine also does
 * other work, so only their proportions are used.
 */
function scaledTo(threadUs: number, sampled: ReadonlyMap<string, StepTime>): Map<string, StepTime> {
  const factor = threadUs / [...sampled.values()].reduce((sum, { totalUs }) => sum + totalUs, 0);
  return new Map(
    [...sampled].map(([step, { totalUs, wasmUs }]) => [step, { totalUs: totalUs * factor, wasmUs: wasmUs * factor }]),
  );
}

function sumBySteps({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, StepTime> {
  const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const known = new Map<number, { readonly step: string; readonly isWasm: boolean }>();
  const classify = (id: number): { readonly step: string; readonly isWasm: boolean } => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const leaf = frames.get(id);
    const isNone = leaf?.functionName === IDLE || leaf?.url === PROFILER;
    const outside = isNone ? IDLE : OUTSIDE.get(leaf?.functionName ?? '');
    let step = outside;
    for (let at: number | undefined = id; step === undefined && at !== undefined; at = parentOf.get(at))
      step = nameOfStep(frames.get(at)?.url ?? '');
    const place = { step: step ?? 'Node: sockets, timers, promises', isWasm: leaf?.url.startsWith('wasm:') ?? false };
    known.set(id, place);
    return place;
  };
  const sums = new Map<string, StepTime>();
  samples.forEach((id, index) => {
    const { step, isWasm } = classify(id);
    // A delta is the time from the previous sample to this one.
    const us = timeDeltas[index] ?? 0;
    if (step === IDLE || us < 0) return;
    const { totalUs, wasmUs } = sums.get(step) ?? { totalUs: 0, wasmUs: 0 };
    sums.set(step, { totalUs: totalUs + us, wasmUs: wasmUs + (isWasm ? us : 0) });
  });
  return sums;
}

function nameOfStep(url: string): string | undefined {
  const step = url === '' ? null : stepOf(url);
  return step === null ? undefined : `${step.piece}: ${step.name}`;
}
