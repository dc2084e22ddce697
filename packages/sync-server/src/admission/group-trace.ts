import { traceNowMs, type PushTrace, type StageName, type TracedStage } from '../observe/push-trace.ts';

/** The stages of one commit, for each traced push in it. */
export class GroupTrace {
  private readonly traces: readonly PushTrace[];
  private readonly pushes: number;
  private lastMs = 0;

  private constructor(traces: readonly PushTrace[], pushes: number) {
    this.traces = traces;
    this.pushes = pushes;
  }

  /** Null if no push of the commit is traced. Nothing is measured in that case. */
  static of(traces: readonly (PushTrace | undefined)[]): GroupTrace | null {
    const traced = traces.filter((trace) => trace !== undefined);
    return traced.length === 0 ? null : new GroupTrace(traced, traces.length);
  }

  /** The trace parent of the first traced push, for other instances, which receive the commit as a whole. */
  get traceparent(): string | undefined {
    return this.traces[0]?.traceparent;
  }

  /** Call when the decision begins. With PostgreSQL, it may begin more than once. */
  began(): void {
    this.lastMs = traceNowMs();
  }

  decided(): void {
    this.end('admission', { pushes: this.pushes });
  }

  /** Call when the commit is written to the file, if it then waits for the disk. */
  written(): void {
    this.end('commit');
  }

  /** Call when the commit is durable. If `written` was not called, the commit included its flush. */
  durable(): void {
    this.end(this.traces[0]?.stages.at(-1)?.name === 'commit' ? 'flush' : 'commit');
  }

  published(sessions: number): void {
    this.end('fan-out', { sessions });
  }

  private end(name: StageName, counts: Pick<TracedStage, 'sessions' | 'pushes'> = {}): void {
    const startMs = this.lastMs;
    this.lastMs = traceNowMs();
    for (const { stages } of this.traces) stages.push({ name, startMs, endMs: this.lastMs, ...counts });
  }
}
