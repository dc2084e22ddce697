import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inProcess } from '#client/node/in-process.ts';
import type { Transport, TransportConnection } from '#client/rpc/transport.ts';
import { httpTransport } from '#client/worker/sync/http-transport.ts';
import { connectOver } from '#client/worker/sync/server-connection.ts';
import { webSocketTransport } from '#client/worker/sync/web-socket-transport.ts';
import {
  encodeMessage,
  MAX_FRAME_BYTES,
  MAX_MESSAGE_BYTES,
  messageToFrames,
  type RockpoolError,
  type ServerMessage,
} from '#shared/index.ts';
import {
  httpServer,
  processServer,
  webSocketServer,
  type ScriptedServer,
  type ServerEnd,
} from '#sync-server/testing/transport-servers.ts';

interface Running {
  readonly server: ScriptedServer;
  readonly transport: Transport;
}

const STARTS: Record<string, () => Promise<Running>> = {
  WebSocket: async () => ({ server: await webSocketServer(), transport: webSocketTransport }),
  HTTP: async () => ({ server: await httpServer(), transport: httpTransport }),
  'in-process': async () => {
    const server = await processServer();
    return { server, transport: inProcess(server.server) };
  },
};

/** One connection, with a record of its events. */
class Line {
  readonly connection: TransportConnection;
  readonly frames: Uint8Array[] = [];
  readonly events: string[] = [];
  readonly errors: RockpoolError[] = [];
  closesOnFrame = false;

  constructor({ server, transport }: Running) {
    this.connection = transport.connect(server.url, {
      onOpen: () => this.events.push('open'),
      onFrame: (frame) => {
        this.frames.push(frame);
        this.events.push('frame');
        if (this.closesOnFrame) this.connection.close();
      },
      onClosed: (error) => {
        this.errors.push(error);
        this.events.push('closed');
      },
    });
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function frameOf(length: number, first: number): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(length).fill(first + 1);
  frame[0] = first;
  return frame;
}

const fingerprints = (frames: readonly Uint8Array[]): [number, number | undefined][] =>
  frames.map((frame) => [frame.length, frame[0]]);

describe.each(Object.entries(STARTS))('the transport %s', (_name, start) => {
  let running: Running;
  const lines: Line[] = [];

  beforeEach(async () => {
    running = await start();
  });

  afterEach(async () => {
    for (const { connection } of lines.splice(0)) connection.close();
    await running.server.close();
  });

  function connect(): Line {
    const line = new Line(running);
    lines.push(line);
    return line;
  }

  async function open(): Promise<{ readonly line: Line; readonly end: ServerEnd }> {
    const count = running.server.ends.length;
    const line = connect();
    await until(() => line.events.length > 0 && running.server.ends.length > count);
    expect(line.events).toEqual(['open']);
    return { line, end: running.server.ends[count] as ServerEnd };
  }

  /**
   * Resolves once a later connection has received a frame, or was refused. An event of an earlier connection that must
   * not occur would have occurred by then.
   */
  async function settled(): Promise<void> {
    const later = connect();
    await until(() => later.events.length > 0);
    if (later.events[0] === 'closed') return;
    running.server.ends.at(-1)?.socket.send(frameOf(1, 0));
    await until(() => later.frames.length > 0);
  }

  it('opens only after connect has returned', async () => {
    const line = connect();
    expect(line.events).toEqual([]);
    await until(() => line.events.length > 0);
    expect(line.events).toEqual(['open']);
  });

  it('carries frames of every size both ways, whole, once and in order', async () => {
    const { line, end } = await open();
    const sent = Array.from({ length: 100 }, (_, index) =>
      frameOf(index % 20 === 19 ? MAX_FRAME_BYTES : 1 + index * 7, index),
    );
    for (const frame of sent) {
      line.connection.send(frame);
      end.socket.send(frame);
    }
    await until(() => line.frames.length === sent.length && end.received.length === sent.length);
    expect(fingerprints(end.received)).toEqual(fingerprints(sent));
    expect(fingerprints(line.frames)).toEqual(fingerprints(sent));
    expect(line.frames.every((frame, index) => Buffer.compare(frame, sent[index] as Uint8Array) === 0)).toBe(true);
    await settled();
    expect(line.frames).toHaveLength(sent.length);
  });

  it('keeps frames at the client while the server does not read, and counts their bytes', async () => {
    const { line, end } = await open();
    end.pause();
    const sent = Array.from({ length: 64 }, (_, index) => frameOf(MAX_FRAME_BYTES, index));
    for (const frame of sent) line.connection.send(frame);
    await settled();
    expect(line.connection.bufferedBytes).toBeGreaterThan(MAX_FRAME_BYTES);
    expect(end.received.length).toBeLessThan(sent.length);
    end.resume();
    await until(() => end.received.length === sent.length);
    expect(fingerprints(end.received)).toEqual(fingerprints(sent));
    await until(() => line.connection.bufferedBytes === 0);
  });

  it('reports the server’s close code once, after all earlier frames', async () => {
    const { line, end } = await open();
    for (let index = 0; index < 10; index++) end.socket.send(frameOf(1_000, index));
    end.socket.close(4001, 'a reason');
    await until(() => line.errors.length > 0);
    await settled();
    expect(line.events).toEqual(['open', ...Array.from({ length: 10 }, () => 'frame'), 'closed']);
    expect(line.errors).toMatchObject([{ code: 'network-unreachable', fields: { closeCode: 4001 } }]);
  });

  it('reports a cut connection once', async () => {
    const { line, end } = await open();
    end.socket.terminate();
    await until(() => line.errors.length > 0);
    await settled();
    expect(line.events).toEqual(['open', 'closed']);
    expect(line.errors).toMatchObject([{ code: 'network-unreachable' }]);
  });

  it('reports an unreachable server, without opening', async () => {
    await running.server.close();
    const line = connect();
    await until(() => line.errors.length > 0);
    await settled();
    expect(line.events).toEqual(['closed']);
    expect(line.errors).toMatchObject([{ code: 'network-unreachable' }]);
  });

  it('ends when it is closed: the server receives the close, and no event follows', async () => {
    const { line, end } = await open();
    line.connection.close();
    end.socket.send(frameOf(10, 1));
    line.connection.send(frameOf(10, 1));
    line.connection.close();
    await until(() => end.isDisconnected);
    end.socket.close(1001, '');
    await settled();
    expect(line.events).toEqual(['open']);
  });

  it('reports no frame after the one whose receiver closes the connection', async () => {
    const { line, end } = await open();
    line.closesOnFrame = true;
    for (let index = 0; index < 10; index++) end.socket.send(frameOf(1_000, index));
    await until(() => end.isDisconnected);
    await settled();
    expect(line.events).toEqual(['open', 'frame']);
  });

  it('opens nothing if it is closed before it opens', async () => {
    const line = connect();
    line.connection.close();
    await settled();
    expect(line.events).toEqual([]);
  });

  it('connects again after a connection has ended, without frames of the previous one', async () => {
    const first = await open();
    first.line.connection.send(frameOf(10, 1));
    await until(() => first.end.received.length === 1);
    first.end.socket.close(1001, 'server stops');
    await until(() => first.line.errors.length === 1);
    const second = await open();
    second.line.connection.send(frameOf(20, 2));
    second.end.socket.send(frameOf(30, 3));
    await until(() => second.end.received.length === 1 && second.line.frames.length === 1);
    expect(fingerprints([...second.end.received, ...second.line.frames])).toEqual([
      [20, 2],
      [30, 3],
    ]);
    expect(first.end.received).toHaveLength(1);
  });

  it('ends the connection for a frame over the size limit', async () => {
    const { line, end } = await open();
    line.connection.send(frameOf(MAX_FRAME_BYTES * 5, 1));
    await until(() => line.errors.length > 0);
    expect(line.errors).toMatchObject([{ code: 'network-unreachable' }]);
    expect(end.received).toEqual([]);
  });

  describe('with messages', () => {
    interface Talk {
      readonly messages: ServerMessage[];
      readonly failures: string[];
      readonly end: ServerEnd;
    }

    let parts = 0;

    async function talk(): Promise<Talk> {
      const messages: ServerMessage[] = [];
      const failures: string[] = [];
      let isOpen = false;
      parts = 0;
      const connection = connectOver(running.transport)(running.server.url, {
        onOpen: () => (isOpen = true),
        onMessage: (message) => messages.push(message),
        onPart: () => (parts += 1),
        onFailed: ({ code }) => failures.push(code),
      });
      await until(() => isOpen && running.server.ends.length > 0);
      const end = running.server.ends.at(-1) as ServerEnd;
      connection.send({ type: 'ping' });
      await until(() => end.received.length === 1);
      return { messages, failures, end };
    }

    const failure = (length: number): ServerMessage => ({
      type: 'failure',
      code: 'internal',
      fields: { text: 'x'.repeat(length) },
    });

    it('assembles a message from several frames, and reports each of them', async () => {
      const { messages, end } = await talk();
      const message = failure(MAX_FRAME_BYTES * 2);
      const frames = [...messageToFrames(encodeMessage(message))];
      expect(frames.length).toBeGreaterThan(1);
      for (const frame of frames) end.socket.send(frame);
      await until(() => messages.length === 1);
      expect(messages).toEqual([message]);
      expect(parts).toBe(frames.length - 1);
    });

    it('rejects a message over the size limit and ends the connection', async () => {
      const { failures, messages, end } = await talk();
      const part = new Uint8Array(MAX_FRAME_BYTES);
      part[0] = messageToFrames(encodeMessage(failure(MAX_FRAME_BYTES * 2)))[0]?.[0] ?? 0;
      for (let bytes = 0; bytes <= MAX_MESSAGE_BYTES; bytes += part.length - 1) end.socket.send(part);
      await until(() => failures.length > 0);
      expect([failures, messages]).toEqual([['frame-too-large'], []]);
      await until(() => end.isDisconnected);
    });

    it('rejects a malformed frame and ends the connection', async () => {
      const { failures, end } = await talk();
      end.socket.send(Uint8Array.of(250, 1, 2));
      await until(() => failures.length > 0);
      expect(failures).toEqual(['frame-invalid']);
      await until(() => end.isDisconnected);
    });
  });
});
