/**
 * Stands between a library that connects on its own and the network, so that one client of several in a process can be
 * offline.
 */
export class SocketGate {
  readonly #waiting = new Set<GatedSocket>();
  readonly #dialled = new Set<GatedSocket>();
  #isOpen = false;

  open(): void {
    this.#isOpen = true;
    for (const socket of this.#waiting) this.#dial(socket);
    this.#waiting.clear();
  }

  close(): void {
    this.#isOpen = false;
    for (const socket of this.#dialled) socket.close();
  }

  enter(socket: GatedSocket): void {
    if (this.#isOpen) this.#dial(socket);
    else this.#waiting.add(socket);
  }

  leave(socket: GatedSocket): void {
    this.#waiting.delete(socket);
    this.#dialled.delete(socket);
  }

  #dial(socket: GatedSocket): void {
    this.#dialled.add(socket);
    socket.dial();
  }
}

/** A WebSocket that dials when its gate is open. */
class GatedSocket extends EventTarget {
  static readonly CONNECTING = WebSocket.CONNECTING;
  static readonly OPEN = WebSocket.OPEN;
  static readonly CLOSING = WebSocket.CLOSING;
  static readonly CLOSED = WebSocket.CLOSED;
  readonly CONNECTING = WebSocket.CONNECTING;
  readonly OPEN = WebSocket.OPEN;
  readonly CLOSING = WebSocket.CLOSING;
  readonly CLOSED = WebSocket.CLOSED;
  binaryType: BinaryType = 'arraybuffer';
  onopen: ((event: Event) => void) | null = null;
  onclose: ((event: Event) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;
  onmessage: ((event: MessageEvent) => void) | null = null;
  readonly #gate: SocketGate;
  readonly #url: string;
  #socket: WebSocket | undefined;
  #isClosed = false;

  constructor(gate: SocketGate, url: string) {
    super();
    this.#gate = gate;
    this.#url = url;
    this.addEventListener('open', (event) => this.onopen?.(event));
    this.addEventListener('close', (event) => this.onclose?.(event));
    this.addEventListener('error', (event) => this.onerror?.(event));
    this.addEventListener('message', (event) => this.onmessage?.(event as MessageEvent));
    gate.enter(this);
  }

  get readyState(): number {
    return this.#isClosed ? WebSocket.CLOSED : (this.#socket?.readyState ?? WebSocket.CONNECTING);
  }

  get bufferedAmount(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  dial(): void {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.binaryType = this.binaryType;
    socket.onopen = () => this.dispatchEvent(new Event('open'));
    socket.onclose = () => this.#end();
    socket.onerror = () => this.dispatchEvent(new Event('error'));
    socket.onmessage = ({ data }) => this.dispatchEvent(new MessageEvent('message', { data }));
  }

  send(data: Parameters<WebSocket['send']>[0]): void {
    this.#socket?.send(data);
  }

  close(): void {
    if (this.#socket === undefined) this.#end();
    else this.#socket.close();
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#gate.leave(this);
    this.dispatchEvent(new CloseEvent('close', { code: 1000 }));
  }
}

/** The class to give to the library. */
export function gatedSocketClass(gate: SocketGate): new (url: string) => GatedSocket {
  return class extends GatedSocket {
    constructor(url: string) {
      super(gate, url);
    }
  };
}
