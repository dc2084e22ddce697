import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, documentColumns, type DocumentRule } from '#shared/index.ts';
import { diffJson, PathRule } from '#shared/document/index.ts';
import type { WriteRequest } from '#client/rpc/write-request.ts';
import { PAGES } from '#sync-server/testing/test-schema.ts';
import { TestServer } from '#sync-server/testing/test-server.ts';
import { SocketDevice, type NotedMessage } from '#kit/socket-device.ts';
import { inMemory } from '#kit/test-device.ts';

/** An editing trace in the format of github.com/josephg/editing-traces: positions in characters. */
export interface EditingTrace {
  readonly startContent: string;
  readonly endContent: string;
  readonly txns: readonly {
    readonly patches: readonly (readonly [at: number, removed: number, inserted: string])[];
    /** When it was typed, if the trace records it: devices keep some data for a limited time. */
    readonly time?: string;
  }[];
}

export interface ReplayOptions {
  /** The number of trace transactions per save. */
  readonly every: number;
  /**
   * `offline`: everything is written before the writer connects. `online`: each save is admitted and received by the
   * reader before the next.
   */
  readonly when: 'offline' | 'online';
}

/** The cost of a trace, in bytes before framing and compression. */
export interface ReplayFigures {
  readonly saves: number;
  readonly upBytes: number;
  readonly readerDownBytes: number;
  readonly writerDownBytes: number;
  /** The document on the server. */
  readonly stateBytes: number;
  /** The growth of the content of both files. The size of a file depends on what was pending at the same time, too. */
  readonly writerContentBytes: number;
  readonly readerContentBytes: number;
  readonly writerFileBytes: number;
  /** A writer before its first write. */
  readonly emptyFileBytes: number;
  /**
   * CPU time of the server and both devices from the connection of the writer to the end; with `online`, including the
   * writing.
   */
  readonly settleCpuMs: number;
}

const SCHEMA = buildSchema([PAGES]);
const [RULE] = [...documentColumns(PAGES).values()] as [DocumentRule];

/**
 * Replays a trace in one document on one device, with a second device that reads it, over sockets. Rejects unless both
 * end with the text of the trace.
 */
export async function replay(trace: EditingTrace, { every, when }: ReplayOptions): Promise<ReplayFigures> {
  // Benchmarks run this too, so it does not depend on a test that removes the folder.
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-replay-'));
  const server = await TestServer.start(folder, { schema: SCHEMA });
  const [writer, reader] = [new ReplayDevice(server, 'ann'), new ReplayDevice(server, 'ben')];
  try {
    for (const device of [writer, reader]) device.start();
    writer.write(`INSERT INTO pages (id, content) VALUES ('p', ?)`, JSON.stringify({ body: trace.startContent }));
    await allRead(writer, reader);
    if (when === 'offline') writer.stop();
    for (const device of [writer, reader]) device.messages.length = 0;
    const emptyFileBytes = writer.fileBytes;
    const emptyContentBytes = writer.contentBytes;
    const before = process.cpuUsage();
    let text = trace.startContent;
    let saves = 0;
    for (const { text: next, elapsedMs } of savesOf(trace, every)) {
      for (const device of [writer, reader]) device.time.elapsedMs = elapsedMs;
      writer.request(editOf(text, next));
      text = next;
      saves++;
      if (when === 'online') await allRead(writer, reader);
    }
    const start = when === 'online' ? before : process.cpuUsage();
    if (when === 'offline') writer.start();
    await allRead(writer, reader);
    const cpu = process.cpuUsage(start);
    for (const device of [writer, reader])
      if (device.text !== trace.endContent) throw new Error('the replayed text differs from the end of the trace');
    return {
      saves,
      upBytes: writer.bytes('sent'),
      readerDownBytes: reader.bytes('received'),
      writerDownBytes: writer.bytes('received'),
      stateBytes: Number(server.query('SELECT length(state) FROM rockpool_document')[0]?.[0]),
      writerContentBytes: writer.contentBytes - emptyContentBytes,
      readerContentBytes: reader.contentBytes - emptyContentBytes,
      writerFileBytes: writer.fileBytes,
      emptyFileBytes,
      settleCpuMs: (cpu.user + cpu.system) / 1000,
    };
  } finally {
    for (const device of [writer, reader]) await device.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/**
 * The text after each save, and the time since the first one. If the trace has no times, assumes typing without pauses
 * at half the usual speed; a real text of that length takes longer.
 */
function* savesOf({ startContent, txns }: EditingTrace, every: number): Generator<{ text: string; elapsedMs: number }> {
  let text = startContent;
  let saved = text;
  let elapsedMs = 0;
  let lastMs = NaN;
  for (const [index, { patches, time = '' }] of txns.entries()) {
    for (const patch of patches) text = patched(text, patch);
    const timeMs = Date.parse(time);
    // A trace records unknown times as times of 1970.
    elapsedMs += lastMs > MIN_TIME_MS ? Math.max(0, timeMs - lastMs) : UNTIMED_MS;
    lastMs = timeMs;
    if (((index + 1) % every !== 0 && index < txns.length - 1) || text === saved) continue;
    yield { text, elapsedMs };
    saved = text;
  }
}

const MIN_TIME_MS = Date.parse('2000-01-01');
const UNTIMED_MS = 500;

function patched(text: string, [at, removed, inserted]: EditingTrace['txns'][number]['patches'][number]): string {
  // Positions count characters, not UTF-16 units.
  if (!/[\uD800-\uDFFF]/.test(text)) return text.slice(0, at) + inserted + text.slice(at + removed);
  const characters = Array.from(text);
  return [...characters.slice(0, at), inserted, ...characters.slice(at + removed)].join('');
}

/** The write request that a page with the open document sends. */
function editOf(from: string, to: string): Omit<WriteRequest, 'id'> {
  const changeJson = JSON.stringify(diffJson({ body: from }, { body: to }, PathRule.root(RULE)));
  return {
    statements: [],
    action: { kind: 'change-document', table: 'pages', key: ['p'], column: 'content', changeJson },
  };
}

async function allRead(writer: ReplayDevice, reader: ReplayDevice): Promise<void> {
  const cursorOf = ({ database }: ReplayDevice): number => database.meta.cursor;
  while (writer.database.outbox.pendingCount() > 0 || cursorOf(reader) < cursorOf(writer) || cursorOf(writer) === 0) {
    for (const { problems } of [writer, reader]) if (problems[0] !== undefined) throw problems[0];
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** One client of the trace. Counts the bytes of its messages. */
class ReplayDevice extends SocketDevice {
  /** Adds the time of the trace to the device's clocks. */
  readonly time: { elapsedMs: number };

  constructor(server: TestServer, principal: string) {
    const time = { elapsedMs: 0 };
    const elapsedMs = (): number => performance.now() + time.elapsedMs;
    super({
      server: () => server,
      opened: inMemory({ schema: SCHEMA, nowMs: () => Date.now() + time.elapsedMs, elapsedMs }),
      elapsedMs,
      auditTimes: { quietMs: 3_600_000, intervalMs: 3_600_000 },
    });
    this.time = time;
    this.principal = principal;
  }

  get text(): string {
    return (JSON.parse(this.database.connection.value('SELECT content FROM pages') as string) as { body: string }).body;
  }

  get fileBytes(): number {
    return this.pragma('page_count') * this.pragma('page_size');
  }

  get contentBytes(): number {
    return (this.pragma('page_count') - this.pragma('freelist_count')) * this.pragma('page_size');
  }

  private pragma(name: string): number {
    return this.database.connection.value(`PRAGMA ${name}`) as number;
  }

  bytes(direction: NotedMessage['direction']): number {
    return this.messages.reduce((sum, message) => sum + (message.direction === direction ? message.sizeBytes : 0), 0);
  }
}
