import type { Client } from '../client.ts';

/** One page of the devtools. */
export interface Panel {
  readonly title: string;
  /** Draws itself anew; called when it is opened and now and then while it is. */
  readonly draw: (into: HTMLElement) => Promise<void> | void;
  /** False: it is drawn once, because somebody types in it. */
  readonly isLive: boolean;
  readonly close?: () => void;
}

export type MakePanel = (client: Client) => Panel;
