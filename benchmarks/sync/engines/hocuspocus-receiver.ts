import { createDecoder, readVarString, readVarUint, readVarUint8Array, type Decoder } from 'lib0/decoding';
import { createEncoder, toUint8Array, writeVarString, writeVarUint, writeVarUint8Array } from 'lib0/encoding';
import type { Receiver } from '../engine.ts';

// Two copies of Yjs do not know each other's types; this is the copy of the provider.
const Y = (await import(
  'yjs' as string
)) as typeof import('../../../packages/shared/node_modules/yjs/dist/src/index.js');

/** Message types of Hocuspocus, and of y-protocols within `SYNC`. */
const SYNC = 0;
const AUTH = 2;
const TOKEN = 0;
const STEP_1 = 0;
const STEP_2 = 1;
const UPDATE = 2;

/** Decodes updates by Yjs without a document, and keeps the ids of their rows. */
export class HocuspocusReceiver implements Receiver {
  readonly #port: number;
  readonly #document: string;
  readonly #rows: string;
  readonly #ids = new Set<string>();
  #tell: (id: string) => void = () => undefined;
  #socket: WebSocket | undefined;

  /** `rows`: the name of the document's map of rows. */
  constructor(port: number, document: string, rows: string) {
    this.#port = port;
    this.#document = document;
    this.#rows = rows;
  }

  connect(): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}`);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      socket.onopen = () => {
        socket.send(this.#authentication());
        socket.send(this.#syncStep1());
        resolve();
      };
      socket.onerror = () => reject(new Error('the socket of a receiver failed'));
      socket.onmessage = ({ data }) => this.#receive(new Uint8Array(data as ArrayBuffer));
    });
  }

  count(): number {
    return this.#ids.size;
  }

  onRow(listener: (id: string) => void): void {
    this.#tell = listener;
  }

  async close(): Promise<void> {
    this.#socket?.close();
  }

  #authentication(): Uint8Array<ArrayBuffer> {
    const encoder = createEncoder();
    writeVarString(encoder, this.#document);
    writeVarUint(encoder, AUTH);
    writeVarUint(encoder, TOKEN);
    writeVarString(encoder, 'none');
    writeVarString(encoder, 'receiver');
    return toUint8Array(encoder);
  }

  /** The first step of a sync: the state vector of an empty document. */
  #syncStep1(): Uint8Array<ArrayBuffer> {
    const encoder = createEncoder();
    writeVarString(encoder, this.#document);
    writeVarUint(encoder, SYNC);
    writeVarUint(encoder, STEP_1);
    writeVarUint8Array(encoder, Y.encodeStateVector(new Y.Doc()));
    return toUint8Array(encoder);
  }

  #receive(message: Uint8Array): void {
    const decoder = createDecoder(message);
    readVarString(decoder);
    if (readVarUint(decoder) !== SYNC) return;
    const kind = readVarUint(decoder);
    if (kind === STEP_2 || kind === UPDATE) this.#receiveUpdate(decoder);
  }

  #receiveUpdate(decoder: Decoder): void {
    for (const struct of Y.decodeUpdate(readVarUint8Array(decoder)).structs) {
      if (!(struct instanceof Y.Item) || (struct.parent as unknown) !== this.#rows || struct.parentSub === null)
        continue;
      this.#ids.add(struct.parentSub);
      this.#tell(struct.parentSub);
    }
  }
}
