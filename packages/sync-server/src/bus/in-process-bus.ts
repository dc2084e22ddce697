import type { Bus, BusMessage, BusState, BusTopic } from './bus.ts';
import { topicKey, topicOf } from './bus-message.ts';

type Listener = (message: BusMessage) => void;

/** The bus of a server with one process. `publish` calls the listeners before it returns. */
export class InProcessBus implements Bus {
  readonly state: BusState = { isConnected: true, reconnects: 0, lost: 0 };
  private readonly byTopic = new Map<string, Set<Listener>>();

  publish(message: BusMessage): void {
    for (const listener of [...(this.byTopic.get(topicKey(topicOf(message))) ?? [])]) listener(message);
  }

  subscribe(topic: BusTopic, listener: Listener): () => void {
    const key = topicKey(topic);
    // Wraps the listener, so that it can be subscribed twice.
    const own: Listener = (message) => listener(message);
    this.byTopic.set(key, (this.byTopic.get(key) ?? new Set<Listener>()).add(own));
    return () => {
      const listeners = this.byTopic.get(key);
      if (listeners?.delete(own) === true && listeners.size === 0) this.byTopic.delete(key);
    };
  }

  hasListeners(topic: BusTopic): boolean {
    return this.byTopic.has(topicKey(topic));
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.byTopic.clear();
    return Promise.resolve();
  }
}
