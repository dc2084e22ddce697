import type { Bus, BusMessage } from './bus.ts';

/** The bus of a server that is one process. `publish` calls the listeners before it returns. */
export class InProcessBus implements Bus {
  private readonly listeners = new Set<(message: BusMessage) => void>();

  publish(message: BusMessage): void {
    for (const listener of [...this.listeners]) listener(message);
  }

  subscribe(listener: (message: BusMessage) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): Promise<void> {
    this.listeners.clear();
    return Promise.resolve();
  }
}
