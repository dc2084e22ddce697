import type { StorageSignals } from './storage-signals.ts';

/** Signals over BroadcastChannel. */
export const webSignals: StorageSignals = {
  post(name: string): void {
    const channel = new BroadcastChannel(name);
    channel.postMessage(null);
    channel.close();
  },
  listen(name: string, onSignal: () => void): () => void {
    const channel = new BroadcastChannel(name);
    channel.onmessage = () => onSignal();
    return () => channel.close();
  },
};
