/** The parts of Node and of its WebSocket that are used; this package has no types of Node. */
interface NodeProcess {
  getBuiltinModule?(name: 'node:diagnostics_channel'): {
    subscribe(channel: string, listener: (message: unknown) => void): void;
  };
}

interface SentHeaders {
  readonly request: { readonly origin: string; readonly path: string; readonly upgrade: string | null };
  readonly socket: { unref(): void };
}

/** The addresses of the sync servers of this process, with `http` in place of `ws`. */
const addresses = new Set<string>();
let isListening = false;

/**
 * Lets this process end although a WebSocket to this URL is closing: Node waits without a limit for a server that does
 * not answer the close, and has no call that ends the socket. While a client is open, its timers keep the process
 * alive.
 */
export function unrefWebSockets(url: string): void {
  addresses.add(addressOf(url));
  if (isListening) return;
  isListening = true;
  const { process } = globalThis as { readonly process?: NodeProcess };
  process?.getBuiltinModule?.('node:diagnostics_channel').subscribe('undici:client:sendHeaders', (message) => {
    const { request, socket } = message as SentHeaders;
    if (request.upgrade === 'websocket' && addresses.has(addressOf(`${request.origin}${request.path}`))) socket.unref();
  });
}

function addressOf(url: string): string {
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol.replace('ws', 'http')}//${host}${pathname}${search}`;
}
