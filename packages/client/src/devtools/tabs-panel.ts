import { element, table } from './dom.ts';
import type { MakePanel } from './panel.ts';

/** Which tabs share the database: the lock that names the leader has the others in its queue. */
export const tabsPanel: MakePanel = (client) => ({
  title: 'Tabs',
  isLive: true,
  async draw(into) {
    const { held = [], pending = [] } = await navigator.locks.query();
    const leads = (name: string | undefined): boolean => name?.startsWith(`rockpool:${client.name}`) === true && name.endsWith(':leader');
    const rows = [...held.filter(({ name }) => leads(name)).map(({ clientId }) => ['leads', clientId ?? null]), ...pending.filter(({ name }) => leads(name)).map(({ clientId }) => ['follows', clientId ?? null])];
    into.replaceChildren(element('p', '', `This tab ${client.status.role === 'leader' ? 'leads' : 'follows'}, on ${client.status.persistence}.`), table(['role', 'worker'], rows));
  },
});
