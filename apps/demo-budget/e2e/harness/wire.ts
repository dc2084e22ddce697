// The demo talks to the server only through the client. These tests send frames that no client sends, so only they
// import the protocol's code.
/* oxlint-disable no-restricted-imports */
import {
  columnIdOf,
  decodeServerMessage,
  encodeChangesetBody,
  encodeMessage,
  FIRST_LOG_HASH,
  FIRST_PREVIOUS_HASH,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  messageToFrames,
  PROTOCOL_VERSION,
  tableIdOf,
  type ChangeGroup,
  type ClientMessage,
  type ServerMessage,
} from '../../../../packages/shared/src/index.ts';
/* oxlint-enable no-restricted-imports */
import { randomBytes } from 'node:crypto';
import { schema } from '../../src/schema.ts';

/** A WebSocket that sends arbitrary frames and records what it receives. */
export interface RawSocket {
  sendFrame(bytes: Uint8Array): void;
  send(message: ClientMessage): void;
  /** Sends the hello of a new site of the budget. */
  hello(token: string, databaseId: string): void;
  /** Pushes a changeset with this one group, as the site's first changeset. */
  push(group: ChangeGroup): void;
  /** The server's next message. Rejects if the connection closes first. */
  next(): Promise<ServerMessage>;
  /** Resolves to the close code. */
  readonly closed: Promise<number>;
  close(): void;
}

export async function openRawSocket(serverPort: number): Promise<RawSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${serverPort}/sync`);
  socket.binaryType = 'arraybuffer';
  const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
  const heard: ServerMessage[] = [];
  let waiting: (() => void) | undefined;
  let ended = false;
  socket.addEventListener('message', ({ data }) => {
    const message = assembler.add(new Uint8Array(data as ArrayBuffer));
    if (message !== null) heard.push(decodeServerMessage(message));
    waiting?.();
  });
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => {
      ended = true;
      waiting?.();
      resolve(code);
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error('The server refused the WebSocket')));
  });

  const send = (message: ClientMessage): void => {
    for (const frame of messageToFrames(encodeMessage(message))) socket.send(frame);
  };
  return {
    send,
    sendFrame: (bytes) => socket.send(new Uint8Array(bytes)),
    hello(token, databaseId) {
      send({
        type: 'hello',
        protocolVersion: PROTOCOL_VERSION,
        token,
        databaseId,
        databaseIdentity: null,
        siteId: new Uint8Array(randomBytes(16)),
        schemaHash: schema.hash,
        logEpoch: null,
        cursor: 0,
        cursorHash: FIRST_LOG_HASH,
        lastAckedSequence: 0,
        decidedHash: FIRST_PREVIOUS_HASH,
        lastSequence: 0,
        fullResync: false,
        snapshot: 'refused',
      });
    },
    push(group) {
      const nowMs = Date.now();
      const body = encodeChangesetBody({ atomic: false, groups: [group], cellBases: [] });
      send({
        type: 'push',
        previousHash: FIRST_PREVIOUS_HASH,
        olderEpochUpTo: 0,
        changesets: [{ sequence: 1, stampUs: nowMs * 1_000, ageUs: 0, base: 0, body }],
      });
    },
    async next() {
      while (heard.length === 0) {
        if (ended) throw new Error('The server closed the socket without sending another message');
        await new Promise<void>((resolve) => {
          waiting = resolve;
        });
      }
      return heard.shift() as ServerMessage;
    },
    closed,
    close: () => socket.close(),
  };
}

/** One new row of a table, with names that the schema may not contain. */
export function insertGroup(
  table: string,
  key: string,
  cells: Readonly<Record<string, string | bigint | null>>,
): ChangeGroup {
  return {
    tableId: tableIdOf(table),
    kind: 'insert',
    rowCount: 1,
    keys: [[key]],
    columnIds: Object.keys(cells).map(columnIdOf),
    values: Object.values(cells).map((value) => [value]),
  };
}
