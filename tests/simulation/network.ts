import {
  decodeClientMessage,
  decodeServerMessage,
  FrameAssembler,
  MAX_MESSAGE_BYTES,
  type ClientMessage,
} from '#shared/index.ts';
import type { SessionSocket } from '#sync-server/session/session-socket.ts';
import { Pipe } from './pipe.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';
import { currentOwner, type Owner, type VirtualTime } from './virtual-time.ts';

/** What the server does with a connection. */
export interface ServerEnd {
  /** The process. */
  readonly owner: Owner;
  receive(frame: Uint8Array): void;
  disconnected(): void;
}

/** Null if no server listens. */
export type Listen = (socket: SessionSocket) => ServerEnd | null;

export interface NetworkOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly tally: Tally;
  /** Called after a worker handed over a frame. It may kill the worker. */
  readonly onSent: (client: Owner) => void;
  /** Called when a worker says hello as a site (hex). */
  readonly onSiteUsed: (client: Owner, site: string) => void;
  /** Called after a worker handed over a push of its site (hex) up to this changeset. */
  readonly onPushSent: (client: Owner, site: string, upTo: number) => void;
  readonly listen: Listen;
}

/** A client's location. Network faults there affect all of its connections. */
export interface Place {
  isPartitioned: boolean;
  isSlow: boolean;
  /** WebSockets do not open, as behind some company proxies. */
  readonly blocksSockets: boolean;
  /** How many requests the client made: hellos and pushes. */
  exchanges: number;
}

/** A WebSocket, or one HTTP request, between a worker and the server. */
export interface Line {
  readonly client: Owner;
  readonly place: Place;
  /** A partition begins or ends. */
  hold(isHeld: boolean): void;
  /** Loses everything in flight. An end that is not notified has to detect this by itself. */
  cut(hears: { readonly clientHears: boolean; readonly serverHears: boolean }): void;
  /** The client is gone. What it sent still arrives. */
  clientClosed(): void;
  /**
   * Closes the client's side at once. What the client has sent arrives after a while, and the server notices the close
   * even later.
   */
  abandon(lateMs: number): void;
  mangle(mangling: Mangling): void;
  /** Whether the process serves this line, or may serve it once the line reaches it. */
  reaches(owner: Owner): boolean;
  /** The process is dead. What it sent may still arrive. */
  lastWords(): void;
}

/**
 * Connections between workers and the server. Frames of one connection arrive in order, and frames of different
 * connections in any order. A connection can be cut with everything in flight, whether or not either end notices. A
 * partition holds back all frames until it ends.
 */
export class Network {
  readonly options: NetworkOptions;
  readonly connections = new Set<Line>();
  private isStalled = false;
  private unread: { readonly connection: Line; readonly read: () => void }[] = [];

  constructor(options: NetworkOptions) {
    this.options = options;
  }

  /** Replaces the browser's WebSocket for the worker that calls it. */
  webSocketClass(placeOf: (owner: Owner) => Place): new (url: string) => object {
    const open = (): object => this.open(placeOf);
    return class {
      constructor() {
        return open();
      }
    };
  }

  private open(placeOf: (owner: Owner) => Place): object {
    const owner = currentOwner();
    if (owner === undefined) throw new Error('a socket was opened outside of a device');
    // Pending callbacks of a killed worker may still run.
    if (!owner.isAlive) return deadSocket();
    const connection = new SimulatedConnection(this, owner, placeOf(owner));
    this.connections.add(connection);
    return connection.clientEnd;
  }

  /** The delay of one frame or request in one direction. */
  latencyMs({ isSlow }: Place): number {
    const { random } = this.options;
    return isSlow ? 200 + random.below(4_000) : random.chance(0.5) ? USUAL_LATENCY_MS : 1 + random.below(60);
  }

  connectionsOf(place: Place): Line[] {
    return [...this.connections].filter((connection) => connection.place === place);
  }

  partition(place: Place, isPartitioned: boolean): void {
    place.isPartitioned = isPartitioned;
    for (const connection of this.connectionsOf(place)) connection.hold(isPartitioned);
  }

  /** Records a message that a worker of the site hands over. */
  noteSent({ client, place }: Line, site: string, message: ClientMessage): void {
    if (message.type === 'hello') this.options.onSiteUsed(client, Buffer.from(message.siteId).toString('hex'));
    if (message.type === 'push') this.options.onPushSent(client, site, message.changesets.at(-1)?.sequence ?? 0);
    if (message.type === 'hello' || message.type === 'push') place.exchanges++;
  }

  /** The worker is gone. */
  forget(owner: Owner): void {
    const { random } = this.options;
    for (const connection of this.connections) {
      if (connection.client !== owner) continue;
      // The operating system still delivers what a dead process has sent.
      if (random.chance(0.5)) connection.clientClosed();
      else connection.cut({ clientHears: false, serverHears: random.chance(0.5) });
    }
  }

  /** A process of the server is dead. Frames that it sent may still arrive. */
  serverGone(owner: Owner): void {
    this.unread = this.unread.filter(({ connection }) => !connection.reaches(owner));
    for (const connection of this.connections) {
      if (!connection.reaches(owner)) continue;
      if (this.options.random.chance(0.5)) connection.lastWords();
      else connection.cut({ clientHears: !connection.place.isPartitioned, serverHears: false });
    }
  }

  /**
   * While the server is stalled, incoming frames stay unread, even if their connection ends. They are all read when the
   * stall ends.
   */
  stall(isStalled: boolean): void {
    this.isStalled = isStalled;
    if (isStalled) return;
    const unread = this.unread;
    this.unread = [];
    // Sockets are read one after another in any order; the frames of one socket stay in order.
    for (const connection of shuffled([...new Set(unread.map((item) => item.connection))], this.options.random)) {
      for (const item of unread) if (item.connection === connection) item.read();
    }
  }

  /** Lets the server read data that has arrived, or keeps it unread while the server is stalled. */
  arrive(connection: Line, read: () => void): void {
    if (this.isStalled) this.unread.push({ connection, read });
    else read();
  }
}

// The latency of many messages. It is constant, so that some events coincide.
const USUAL_LATENCY_MS = 5;

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;

/** The part of the WebSocket API that the client uses. */
class ClientEnd {
  binaryType = '';
  readyState = CONNECTING;
  onopen: ((event: object) => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: ((event: { readonly code: number }) => void) | null = null;
  private readonly connection: SimulatedConnection;

  constructor(connection: SimulatedConnection) {
    this.connection = connection;
  }

  get bufferedAmount(): number {
    return this.connection.bytesUp;
  }

  send(data: Uint8Array): void {
    if (this.readyState !== OPEN) return;
    this.connection.sendUp(data.slice());
    this.connection.sent();
  }

  close(): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.connection.clientClosed();
  }
}

/** The socket of a dead worker: it sends and receives nothing. */
function deadSocket(): object {
  return { readyState: CONNECTING, send: () => undefined, close: () => undefined };
}

class SimulatedConnection implements Line {
  readonly client: Owner;
  readonly place: Place;
  readonly clientEnd: ClientEnd;
  private readonly network: Network;
  private readonly up: Pipe;
  private readonly down: Pipe;
  private server: ServerEnd | null = null;
  private outcomesUnderWay = 0;
  /** Bytes that one end has sent and the other end has not read yet. */
  bytesUp = 0;
  private bytesDown = 0;
  private onDrained: (() => void) | null = null;
  /** The site that the hello names. */
  private site = '';
  private isEnded = false;
  /** What happens to the next push, or to the next delivery. */
  private mangling: Mangling | null = null;
  /** A delivery that is held until after the next one. */
  private overtaken: (() => void) | null = null;
  private deliveries = 0;

  constructor(network: Network, client: Owner, place: Place) {
    const { time } = network.options;
    this.network = network;
    this.client = client;
    this.place = place;
    const latencyMs = (): number => network.latencyMs(place);
    this.up = new Pipe(time, latencyMs);
    this.down = new Pipe(time, latencyMs);
    this.clientEnd = new ClientEnd(this);
    if (place.isPartitioned) this.hold(true);
    this.up.send(() => network.arrive(this, () => this.reachServer()));
  }

  hold(isHeld: boolean): void {
    this.up.hold(isHeld);
    this.down.hold(isHeld);
  }

  sendUp(frame: Uint8Array): void {
    const message = wholeMessage(frame, decodeClientMessage);
    const type = message?.type;
    if (message?.type === 'hello') this.site = Buffer.from(message.siteId).toString('hex');
    if (message !== null) this.network.noteSent(this, this.site, message);
    const times = type === 'push' && this.mangles('double') ? 2 : 1;
    for (let time = 0; time < times; time++) {
      this.bytesUp += frame.length;
      this.up.send(() => {
        this.bytesUp -= frame.length;
        this.network.arrive(this, () => this.toServer(() => this.server?.receive(frame)));
      });
    }
  }

  sent(): void {
    this.network.options.onSent(this.client);
  }

  /**
   * The next message with writes arrives twice, or after its successor. No WebSocket does this; the simulation is
   * stricter than reality.
   */
  mangle(mangling: Mangling): void {
    if (mangling !== 'repeat') this.mangling = mangling;
  }

  private mangles(mangling: Mangling): boolean {
    if (this.mangling !== mangling) return false;
    this.mangling = null;
    this.network.options.tally.add(mangling === 'double' ? 'doubled frame' : 'swapped frames');
    return true;
  }

  clientClosed(): void {
    this.up.send(() => {
      this.network.arrive(this, () => this.toServer(() => this.server?.disconnected()));
      this.end();
    });
  }

  cut({ clientHears, serverHears }: { readonly clientHears: boolean; readonly serverHears: boolean }): void {
    if (this.isEnded) return;
    const { time, tally } = this.network.options;
    if (this.outcomesUnderWay > 0) tally.add('lost reply');
    this.up.cut();
    this.down.cut();
    const delayMs = 1 + this.network.options.random.below(40);
    if (clientHears) time.after(delayMs, () => this.clientHearsClose(1006));
    if (serverHears)
      time.after(delayMs, () => this.network.arrive(this, () => this.toServer(() => this.server?.disconnected())));
    this.end();
  }

  abandon(lateMs: number): void {
    if (this.isEnded) return;
    this.down.cut();
    this.up.hold(true);
    this.network.options.time.after(1, () => this.clientHearsClose(1006));
    this.network.options.time.after(lateMs, () => this.up.hold(false));
    this.end();
  }

  reaches(owner: Owner): boolean {
    return this.server === null || this.server.owner === owner;
  }

  lastWords(): void {
    this.up.cut();
    this.down.send(() => this.clientHearsClose(1006));
    this.end();
  }

  private end(): void {
    this.isEnded = true;
    this.network.connections.delete(this);
  }

  private reachServer(): void {
    this.server = this.place.blocksSockets ? null : this.network.options.listen(this.socket());
    if (this.server === null) {
      this.down.send(() => this.clientHearsClose(1006));
      return;
    }
    this.down.send(() =>
      this.toClient(() => {
        this.clientEnd.readyState = OPEN;
        this.clientEnd.onopen?.({});
      }),
    );
  }

  /** The server's end of the connection, with the calls that the session makes. */
  private socket(): SessionSocket {
    const assembler = new FrameAssembler(MAX_MESSAGE_BYTES);
    return {
      send: (frame) => {
        const bytes = frame.slice();
        const message = assembler.add(bytes);
        const hasOutcomes = message !== null && carriesOutcomes(message);
        if (hasOutcomes) this.outcomesUnderWay++;
        this.bytesDown += bytes.length;
        let isRead = false;
        this.sendDown(wholeMessage(bytes, decodeServerMessage)?.type === 'delivery', () => {
          if (hasOutcomes) this.outcomesUnderWay--;
          if (!isRead) this.bytesDown -= bytes.length;
          isRead = true;
          if (this.bytesDown === 0) this.drained();
          this.toClient(() => this.clientEnd.onmessage?.({ data: bytes.slice().buffer }));
        });
      },
      unreadBytes: () => this.bytesDown,
      whenDrained: (onDrained) => void (this.onDrained = onDrained),
      pause: () => this.up.hold(true),
      resume: () => this.up.hold(this.place.isPartitioned),
      close: (code) => this.down.send(() => this.clientHearsClose(code)),
      terminate: () => this.cut({ clientHears: !this.place.isPartitioned, serverHears: false }),
    };
  }

  private drained(): void {
    const { onDrained } = this;
    this.onDrained = null;
    onDrained?.();
  }

  private sendDown(isDelivery: boolean, deliver: () => void): void {
    if (isDelivery) this.deliveries++;
    // The first delivery belongs to the welcome.
    if (isDelivery && this.overtaken === null && this.mangling === 'swap' && this.deliveries > 1) {
      this.overtaken = deliver;
      return;
    }
    this.down.send(deliver);
    if (isDelivery && this.mangles('double')) this.down.send(deliver);
    if (this.overtaken === null) return;
    this.mangles('swap');
    this.down.send(this.overtaken);
    this.overtaken = null;
  }

  private clientHearsClose(code: number): void {
    this.toClient(() => {
      this.clientEnd.readyState = CLOSED;
      this.clientEnd.onclose?.({ code });
    });
    this.end();
  }

  private toClient(run: () => void): void {
    const { client } = this;
    if (!client.isAlive || this.clientEnd.readyState === CLOSED) return;
    try {
      this.network.options.time.as(client, run);
    } catch (thrown) {
      // Ignores the error of a worker that died during this call.
      if (client.isAlive) throw thrown;
    }
  }

  private toServer(run: () => void): void {
    const { server } = this;
    if (server?.owner.isAlive === true) this.network.options.time.as(server.owner, run);
  }
}

/** `repeat`: the browser repeats a request (simulated-request.ts). */
export type Mangling = 'double' | 'swap' | 'repeat';

/** Returns null if the frame is only a part of a message. */
export function wholeMessage<T>(frame: Uint8Array, decode: (bytes: Uint8Array) => T): T | null {
  const bytes = frame[0] === 0 ? new FrameAssembler(MAX_MESSAGE_BYTES).add(frame) : null;
  return bytes === null ? null : decode(bytes);
}

function carriesOutcomes(bytes: Uint8Array): boolean {
  const message = decodeServerMessage(bytes);
  return message.type === 'delivery' && message.outcomes.length > 0;
}

function shuffled<T>(items: T[], random: Random): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [items[last], items[other]] = [items[other] as T, items[last] as T];
  }
  return items;
}
