import type { Client } from '../client.ts';

/** One page of the devtools. */
export interface Panel {
  readonly title: string;
  /** Renders the panel. Called when the panel opens and, if `isLive`, repeatedly while it is open. */
  readonly draw: (into: HTMLElement) => Promise<void> | void;
  /** False for a panel that is rendered once, because the user types in it. */
  readonly isLive: boolean;
  readonly close?: () => void;
}

export type MakePanel = (client: Client) => Panel;
