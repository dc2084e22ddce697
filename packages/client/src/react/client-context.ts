import { createContext, createElement, useContext, type Context, type ReactElement, type ReactNode } from 'react';
import type { Client } from '../client.ts';

const ClientContext: Context<Client | null> = createContext<Client | null>(null);

export interface RockpoolProviderProps {
  /** Made with `createClient` outside of rendering, and closed by whoever made it. */
  readonly client: Client;
  readonly children?: ReactNode;
}

/** Gives a client to the components below. */
export function RockpoolProvider({ client, children }: RockpoolProviderProps): ReactElement {
  return createElement(ClientContext.Provider, { value: client }, children);
}

/** The client of the nearest provider; throws where there is none. */
export function useClient(): Client {
  const client = useContext(ClientContext);
  if (client === null) throw new Error('useClient needs a <RockpoolProvider client={…}> above it');
  return client;
}
