import { parentPort } from 'node:worker_threads';
import { toStoreError } from '../store/store-failure.ts';
import { answerWrittenRows } from './answer-written-rows.ts';
import type { PastAnswer, PastTask } from './past-states.ts';
import { writePastState } from './write-past-state.ts';

// Runs on a thread of its own, so that the server's thread keeps serving. An error is sent as data, because a thrown
// one would lose its code.
parentPort?.on('message', (task: PastTask) => void answer(task));

async function answer(task: PastTask): Promise<void> {
  parentPort?.postMessage(
    await carryOut(task).catch((error: unknown): PastAnswer => ({ error: toStoreError(error).toData() })),
  );
}

async function carryOut({ from, nowMs, ...asked }: PastTask): Promise<PastAnswer> {
  if ('moment' in asked) return { facts: await writePastState(from, asked.to, { moment: asked.moment, nowMs }) };
  return { rows: answerWrittenRows(from, asked.request, nowMs) };
}
