import { createClient } from '../create-client.ts';

// The script of a page of its own, in a frame: the test that made the frame finds the functions here, and removing the frame kills the tab.

export interface TabWindow extends Window {
  createClient?: typeof createClient;
}

(window as TabWindow).createClient = createClient;
