import { createContext, createElement, useContext, type Context, type ReactElement, type ReactNode } from 'react';
import type { Client } from '../client.ts';

// Undefined: there is no provider.
const ClientContext: Context<Client | null | undefined> = createContext<Client | null | undefined>(undefined);

export interface RockpoolProviderProps {
  /**
   * Made with `createClient` outside of rendering, and closed by whoever made it. Null while there is none: on a
   * server, and before it is open.
   */
  readonly client: Client | null;
  readonly children?: ReactNode;
}

/** Gives a client to the components below. */
export function RockpoolProvider({ client, children }: RockpoolProviderProps): ReactElement {
  return createElement(ClientContext.Provider, { value: client }, children);
}

/** The client of the nearest provider; throws where there is none, and while the provider has none. */
export function useClient(): Client {
  const client = useMaybeClient();
  if (client === null) throw new Error('useClient needs a client: the <RockpoolProvider> above has none yet');
  return client;
}

/** Null while the provider has no client. */
export function useMaybeClient(): Client | null {
  const client = useContext(ClientContext);
  if (client === undefined) throw new Error('this hook needs a <RockpoolProvider client={…}> above it');
  return client;
}
