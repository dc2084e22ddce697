import { createRequire } from 'node:module';
import type * as OpenTelemetry from '@opentelemetry/api';
import { RockpoolError, type ErrorCode } from '@rockpool/shared';
import { errorFields, type Logger } from './log-line.ts';
import { isTraceparent, PushTrace, traceNowMs, type FollowedCommit } from './push-trace.ts';

/** The facts about a push in its span: names and counts, never a value. */
export interface PushFacts {
  readonly databaseId: string;
  /** 32 hex digits. */
  readonly site: string;
  /** The sequence of the last changeset. */
  readonly sequence: number;
  readonly changesets: number;
  readonly sizeBytes: number;
}

/** A push whose span is recorded. */
export interface TracedPush {
  readonly trace: PushTrace;
  /** Ends the span. `refusal`: why the push was refused as a whole. */
  end(refusal: ErrorCode | null): void;
}

type Api = Pick<typeof OpenTelemetry, 'trace' | 'ROOT_CONTEXT' | 'SpanKind' | 'SpanStatusCode'>;

/**
 * Spans of pushes, sent to the tracer provider that the host program has registered with OpenTelemetry. Only the
 * accepting thread makes spans: other threads report times. Without a registered provider, or if its sampler leaves a
 * push out, nothing is measured. An error of the provider fails no push; the first one is logged.
 */
export class Tracing {
  private readonly api: Api;
  private readonly tracer: OpenTelemetry.Tracer;
  private readonly log: Logger;
  private hasFailed = false;

  constructor(api: Api, version: string, log: Logger) {
    this.api = api;
    this.log = log;
    this.tracer = api.trace.getTracer('@rockpool/sync-server', version);
  }

  /** Throws `config-invalid` if `@opentelemetry/api`, an optional peer dependency, is not installed. */
  static load(version: string, log: Logger): Tracing {
    try {
      // Copies of the API share one registry, however each was imported.
      return new Tracing(createRequire(import.meta.url)('@opentelemetry/api') as Api, version, log);
    } catch (error) {
      throw new RockpoolError(
        'config-invalid',
        { count: 1, problems: 'tracing needs the package @opentelemetry/api: install it next to the server' },
        { cause: error },
      );
    }
  }

  /** Null if the push is not recorded. */
  push(facts: PushFacts): TracedPush | null {
    return this.guarded(() => this.begin(facts));
  }

  /** Records a commit of another instance that reached the sessions of this one, as part of the trace of its push. */
  followed(commit: FollowedCommit): void {
    this.guarded(() => this.recordFollowed(commit));
  }

  private guarded<Result>(work: () => Result): Result | null {
    try {
      return work();
    } catch (error) {
      if (!this.hasFailed) this.log('trace-failed', errorFields(error));
      this.hasFailed = true;
      return null;
    }
  }

  private begin(facts: PushFacts): TracedPush | null {
    const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace: traces } = this.api;
    const startMs = traceNowMs();
    const span = this.tracer.startSpan('rockpool.push', { kind: SpanKind.SERVER, startTime: startMs }, ROOT_CONTEXT);
    if (!span.isRecording()) return null;
    span.setAttributes({
      'rockpool.database': facts.databaseId,
      'rockpool.site': facts.site,
      'rockpool.sequence': facts.sequence,
      'rockpool.changesets': facts.changesets,
      'rockpool.bytes': facts.sizeBytes,
    });
    const trace = new PushTrace({ traceparent: traceparentOf(span.spanContext()), startMs });
    const context = traces.setSpan(ROOT_CONTEXT, span);
    return {
      trace,
      end: (refusal) =>
        void this.guarded(() => {
          // The sockets have all messages of the fan-out by now.
          const published = trace.stages.findLast(({ name }) => name === 'fan-out');
          if (published !== undefined)
            trace.stages.push({ name: 'delivery', startMs: published.endMs, endMs: traceNowMs() });
          for (const { name, startMs, endMs, sessions, pushes } of trace.stages)
            this.tracer
              .startSpan(
                `rockpool.${name}`,
                {
                  startTime: startMs,
                  attributes: {
                    ...(sessions !== undefined && { 'rockpool.sessions': sessions }),
                    ...(pushes !== undefined && { 'rockpool.pushes': pushes }),
                  },
                },
                context,
              )
              .end(endMs);
          if (refusal !== null) {
            span.setAttribute('error.type', refusal);
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end(traceNowMs());
        }),
    };
  }

  private recordFollowed({ traceparent, databaseId, startMs, endMs, sessions }: FollowedCommit): void {
    const { ROOT_CONTEXT, SpanKind, trace: traces } = this.api;
    if (!isTraceparent(traceparent)) return;
    const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
    const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
    this.tracer
      .startSpan(
        'rockpool.follow',
        {
          kind: SpanKind.CONSUMER,
          startTime: startMs,
          attributes: { 'rockpool.database': databaseId, 'rockpool.sessions': sessions },
        },
        traces.setSpanContext(ROOT_CONTEXT, parent),
      )
      .end(endMs);
  }
}

function traceparentOf({ traceId, spanId, traceFlags }: OpenTelemetry.SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
