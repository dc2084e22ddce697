import { ByteReader, decodeClientMessage, type ClientMessage } from '#shared/index.ts';
import { wholeMessage, type Line, type Mangling, type Network, type Place } from './network.ts';
import { Pipe } from './pipe.ts';
import { currentOwner, type Owner } from './virtual-time.ts';

/** What a server process does with requests. */
export interface HttpServerEnd {
  readonly owner: Owner;
  answer(request: Request): Promise<Response>;
}

export interface SimulatedHttpOptions {
  readonly network: Network;
  readonly placeOf: (owner: Owner) => Place;
  /** Chooses a process, like a load balancer. Null if none listens. */
  readonly listen: () => HttpServerEnd | null;
}

/**
 * HTTP requests of sessions between workers and the server. The process that opened a session gets all of its requests,
 * as behind a load balancer that keeps sessions together; once it is dead, another process gets them.
 */
export class SimulatedHttp {
  private readonly options: SimulatedHttpOptions;
  /** By session id. */
  private readonly processes = new Map<string, HttpServerEnd>();
  /** The site (hex) that the hello of a session names, by session id. */
  private readonly sites = new Map<string, string>();

  constructor(options: SimulatedHttpOptions) {
    this.options = options;
  }

  /** Replaces `fetch` for the worker that calls it. */
  readonly fetch = (to: string, { method = 'GET', body, signal }: RequestInit = {}): Promise<Response> => {
    const { network, placeOf } = this.options;
    const client = currentOwner();
    if (client === undefined) throw new Error('a request was made outside of a device');
    // Pending callbacks of a killed worker may still run.
    if (!client.isAlive) return new Promise(() => undefined);
    const sessionId = new URL(to).pathname.split('/')[2] ?? '';
    const frames = body instanceof Uint8Array ? new Uint8Array(body) : null;
    return new Promise((resolve, reject) => {
      const request = new SimulatedRequest({
        network,
        client,
        place: placeOf(client),
        make: () => new Request(to, { method, ...(frames !== null && { body: frames }) }),
        listen: () => this.processOf(sessionId),
        onAnswer: (process, answer) => {
          if (sessionId === '') this.opened(process, answer);
        },
        resolve,
        reject,
      });
      signal?.addEventListener('abort', () => request.abort(), { once: true });
      if (frames !== null) this.noteFrames(request, sessionId, frames);
    });
  };

  private processOf(sessionId: string): HttpServerEnd | null {
    const process = this.processes.get(sessionId);
    return process?.owner.isAlive === true ? process : this.options.listen();
  }

  private opened(process: HttpServerEnd, { status, bytes }: Answer): void {
    if (status !== 201) return;
    const { sessionId } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly sessionId: string };
    this.processes.set(sessionId, process);
    this.options.network.options.tally.add('session over HTTP');
  }

  private noteFrames(request: Line, sessionId: string, body: Uint8Array): void {
    const { network } = this.options;
    for (const message of messagesIn(body)) {
      if (message.type === 'hello') this.sites.set(sessionId, Buffer.from(message.siteId).toString('hex'));
      network.noteSent(request, this.sites.get(sessionId) ?? '', message);
    }
    network.options.onSent(request.client);
  }
}

function messagesIn(body: Uint8Array): ClientMessage[] {
  const reader = new ByteReader(body, 'frame-invalid');
  const messages: ClientMessage[] = [];
  while (reader.remaining > 0) {
    const message = wholeMessage(reader.lengthPrefixed(), decodeClientMessage);
    if (message !== null) messages.push(message);
  }
  return messages;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface SimulatedRequestOptions {
  readonly network: Network;
  readonly client: Owner;
  readonly place: Place;
  readonly make: () => Request;
  /** Chooses the process when the request arrives. Null if none listens. */
  readonly listen: () => HttpServerEnd | null;
  readonly onAnswer: (process: HttpServerEnd, answer: Answer) => void;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: Error) => void;
}

/** One request and its response, each of which arrives whole or not at all. */
class SimulatedRequest implements Line {
  readonly client: Owner;
  readonly place: Place;
  private readonly options: SimulatedRequestOptions;
  private readonly up: Pipe;
  private readonly down: Pipe;
  private server: HttpServerEnd | null = null;
  private isSettled = false;
  private isRepeated = false;

  constructor(options: SimulatedRequestOptions) {
    const { network, client, place } = options;
    this.options = options;
    this.client = client;
    this.place = place;
    this.up = new Pipe(network.options.time, () => network.latencyMs(place));
    this.down = new Pipe(network.options.time, () => network.latencyMs(place));
    network.connections.add(this);
    if (place.isPartitioned) this.hold(true);
    this.send();
  }

  hold(isHeld: boolean): void {
    this.up.hold(isHeld);
    this.down.hold(isHeld);
  }

  cut({ clientHears }: { readonly clientHears: boolean }): void {
    const { time, random } = this.options.network.options;
    this.up.cut();
    this.down.cut();
    if (clientHears) time.after(1 + random.below(40), () => this.fail());
    this.end();
  }

  clientClosed(): void {
    this.up.send(() => this.end());
  }

  abandon(lateMs: number): void {
    const { time } = this.options.network.options;
    this.down.cut();
    this.up.hold(true);
    time.after(1, () => this.fail());
    time.after(lateMs, () => this.up.hold(false));
    this.end();
  }

  /**
   * The browser sends the request again by itself, because its connection breaks before the response. Chromium and
   * Firefox do that with any method, if the connection was used before.
   */
  mangle(mangling: Mangling): void {
    if (mangling === 'repeat') this.isRepeated = true;
  }

  reaches(owner: Owner): boolean {
    return this.server === null || this.server.owner === owner;
  }

  lastWords(): void {
    this.up.cut();
    this.down.send(() => this.fail());
    this.end();
  }

  /** The worker no longer waits. What it sent still arrives. */
  abort(): void {
    this.settle(() => this.options.reject(new DOMException('aborted', 'AbortError')));
  }

  private send(): void {
    const { network } = this.options;
    this.up.send(() => network.arrive(this, () => void this.reachServer()));
  }

  private async reachServer(): Promise<void> {
    const { network, listen, make, onAnswer } = this.options;
    const server = listen();
    this.server = server;
    if (server === null) return this.down.send(() => this.fail());
    try {
      const response = await server.answer(make());
      const answer = {
        status: response.status,
        headers: response.headers,
        bytes: new Uint8Array(await response.arrayBuffer()),
      };
      if (!server.owner.isAlive) return;
      onAnswer(server, answer);
      if (!this.isRepeated) return this.down.send(() => this.succeed(answer));
      this.isRepeated = false;
      network.options.tally.add('request repeated by a browser');
      this.send();
    } catch (thrown) {
      if (server.owner.isAlive) network.options.time.uncaught.push(thrown);
    }
  }

  private succeed({ status, headers, bytes }: Answer): void {
    this.settle(() => this.options.resolve(new Response(bytes.length === 0 ? null : bytes, { status, headers })));
  }

  private fail(): void {
    this.settle(() => this.options.reject(new TypeError('the network has failed')));
  }

  /** A dead worker gets no response. */
  private settle(how: () => void): void {
    if (!this.isSettled && this.client.isAlive) how();
    this.isSettled = true;
    this.end();
  }

  private end(): void {
    this.options.network.connections.delete(this);
  }
}

/** Clients try plain HTTP if sockets do not open. Without the simulated one, real HTTP would respond in real time. */
export function noHttp(): Promise<never> {
  return Promise.reject(new TypeError('the simulation has no HTTP'));
}
