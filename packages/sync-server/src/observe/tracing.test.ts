import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SamplingDecision,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../../tests/kit/until.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { insert, remove } from '../../testing/changeset.ts';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import { Tracing } from './tracing.ts';

const STAGES = ['receive', 'admission', 'commit', 'flush', 'fan-out', 'delivery'].map((name) => `rockpool.${name}`);
const postgres = postgresUnderTest();
const exporter = new InMemorySpanExporter();
const servers: TestServer[] = [];

beforeEach(() => {
  exporter.reset();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  trace.disable();
});

async function start(options: Parameters<typeof TestServer.start>[1] = {}): Promise<TestServer> {
  const server = await TestServer.start(temporaryFolder(), { tracing: true, ...options });
  servers.push(server);
  await server.sync.ready();
  return server;
}

/** The spans of the only trace, once its push has ended. The span of the push is the first. */
async function onlyTrace(): Promise<readonly [ReadableSpan, ...ReadableSpan[]]> {
  const isPush = ({ name }: ReadableSpan): boolean => name === 'rockpool.push';
  await until(() => exporter.getFinishedSpans().some(isPush));
  const spans = exporter.getFinishedSpans();
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
  return [spans.find(isPush) as ReadableSpan, ...spans.filter((span) => !isPush(span))];
}

const msOf = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1e3 + nanoseconds / 1e6;

it.each([1, 2])('a push has a trace of its stages, in order and without a value, with %i threads', async (threads) => {
  const server = await start({ threads });
  const [author, reader] = [await server.open(), await server.open()];
  await author.commit([insert('accounts', 'secret-key', { name: 'secret-value' })]);
  await reader.delivery();

  const [push, ...stages] = await onlyTrace();
  expect(push.attributes).toMatchObject({
    'rockpool.database': DATABASE,
    'rockpool.site': Buffer.from(author.site.siteId).toString('hex'),
    'rockpool.sequence': 1,
    'rockpool.changesets': 1,
  });
  expect(stages.map(({ name }) => name)).toEqual(STAGES);
  expect(stages.every((stage) => stage.parentSpanContext?.spanId === push.spanContext().spanId)).toBe(true);
  expect(stages.find(({ name }) => name === 'rockpool.fan-out')?.attributes['rockpool.sessions']).toBe(2);
  const times = stages.flatMap(({ startTime, endTime }) => [msOf(startTime), msOf(endTime)]);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(msOf(push.endTime)).toBeGreaterThanOrEqual(times.at(-1) ?? Infinity);
  const text = JSON.stringify(
    [push, ...stages].map(({ attributes, events, status }) => ({ attributes, events, status })),
  );
  expect(text).not.toContain('secret');
});

it.each(['shouldSample', 'onEnd'])('a provider whose %s throws fails no push, and is logged once', async (name) => {
  const fails = (): never => {
    throw new Error('a private detail');
  };
  const provider =
    name === 'onEnd'
      ? { spanProcessors: [Object.assign(new SimpleSpanProcessor(exporter), { onEnd: fails })] }
      : { sampler: { shouldSample: fails } };
  trace.disable();
  trace.setGlobalTracerProvider(new BasicTracerProvider(provider));
  const server = await start();
  const author = await server.open();
  for (const key of ['a', 'b'])
    expect(await author.commit([insert('accounts', key, { name: key })])).toMatchObject({ kind: 'admitted' });
  // The span of a push ends after its outcome was sent.
  await author.roundTrip();
  expect(server.events.map(({ event }) => event).filter((event) => event !== 'session-opened')).toEqual([
    'trace-failed',
  ]);
});

it('a refused push has spans that name the code', async () => {
  const server = await start({ quotas: { maxDatabaseBytes: 1 } });
  const author = await server.open();
  author.push(author.site.write([insert('accounts', 'a', { name: 'x' })]).sequence);
  expect(await author.failure()).toMatchObject({ code: 'quota-exceeded' });
  const [push] = await onlyTrace();
  expect(push.attributes['error.type']).toBe('quota-exceeded');
});

it('each push of one commit has a trace of its own', async () => {
  const server = await start();
  const authors = await Promise.all([server.open(), server.open(), server.open()]);
  await Promise.all(authors.map((author, i) => author.commit([insert('accounts', `k${i}`, { name: 'x' })])));
  const ended = (): readonly ReadableSpan[] =>
    exporter.getFinishedSpans().filter(({ name }) => name === 'rockpool.push');
  await until(() => ended().length === 3);
  expect(new Set(ended().map((span) => span.spanContext().traceId)).size).toBe(3);
});

it('another instance continues the trace over the bus', async () => {
  const { url } = await postgres.server.createPreparedDatabase();
  const here = await start({ postgres: url });
  const there = await start({ postgres: url, threads: 2 });
  const [author, reader] = [await here.open(), await there.open()];
  const named = (name: string): readonly ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => span.name === name);
  // Repeats, because a poll that finds a commit before the bus announces it records nothing.
  for (let i = 0; named('rockpool.follow').length === 0; i++) {
    await author.commit([insert('accounts', `k${i}`, { name: 'x' })]);
    await reader.delivery();
  }
  const [follow] = named('rockpool.follow') as [ReadableSpan];
  const isPush = (span: ReadableSpan): boolean => span.spanContext().spanId === follow.parentSpanContext?.spanId;
  await until(() => named('rockpool.push').some(isPush));
  const push = named('rockpool.push').find(isPush);
  expect(follow.parentSpanContext?.isRemote).toBe(true);
  expect(follow.attributes['rockpool.sessions']).toBe(1);
  const stages = exporter
    .getFinishedSpans()
    .filter((span) => span !== follow && span.parentSpanContext?.spanId === push?.spanContext().spanId);
  // PostgreSQL flushes within its commit, so the flush has no stage of its own.
  expect(stages.map(({ name }) => name)).toEqual(STAGES.filter((name) => name !== 'rockpool.flush'));
});

it('neither a push that a sampler leaves out nor its stages are recorded', async () => {
  const sampler: Sampler = {
    shouldSample: (_context, _traceId, name) => ({
      decision: name === 'rockpool.push' ? SamplingDecision.NOT_RECORD : SamplingDecision.RECORD_AND_SAMPLED,
    }),
    toString: () => 'stages only',
  };
  trace.disable();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  const facts = { databaseId: DATABASE, site: '0'.repeat(32), sequence: 1, changesets: 1, sizeBytes: 1 };
  expect(Tracing.load('1', () => undefined).push(facts)).toBeNull();
  const author = await (await start()).open();
  await author.commit([insert('accounts', 'a', { name: 'x' })]);
  await author.commit([remove('accounts', 'a')]);
  expect(exporter.getFinishedSpans()).toEqual([]);
});

it('a push is not recorded without a provider or without the option', async () => {
  const untraced = await start({ tracing: false });
  await (await untraced.open()).commit([insert('accounts', 'a', { name: 'x' })]);
  trace.disable();
  const server = await start();
  const author = await server.open();
  await author.commit([insert('accounts', 'a', { name: 'x' })]);
  await author.commit([remove('accounts', 'a')]);
  expect(exporter.getFinishedSpans()).toEqual([]);
});
