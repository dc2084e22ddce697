/** The part of MessageChannel that the client uses, on the timers of the simulation: a message is a task of its own. */
export class VirtualChannel {
  readonly port1 = new VirtualPort();
  readonly port2 = new VirtualPort();

  constructor() {
    this.port1.other = this.port2;
    this.port2.other = this.port1;
  }
}

class VirtualPort {
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  other: VirtualPort | null = null;

  postMessage(data: unknown): void {
    setTimeout(() => this.other?.onmessage?.({ data }), 0);
  }

  close(): void {
    this.onmessage = null;
    this.other = null;
  }
}
