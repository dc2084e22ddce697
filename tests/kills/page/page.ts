// A page only has a worker, as an app's page does. The first page opens the other tabs, because a headless Chromium
// starts with one.
const parameters = new URLSearchParams(location.search);
for (const tab of parameters.getAll('also')) {
  const other = new URLSearchParams(parameters);
  other.delete('also');
  other.set('tab', tab);
  other.set('seed', `${parameters.get('seed')}${tab.codePointAt(0)}`);
  window.open(`/?${other}`, '_blank', 'noopener');
}
const worker = new Worker(new URL('./tab.worker.ts', import.meta.url), { type: 'module' });
worker.postMessage(location.search);
