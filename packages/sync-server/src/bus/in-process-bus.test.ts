import { busContract } from './bus.contract.ts';
import { InProcessBus } from './in-process-bus.ts';

busContract('within one process', async () => {
  const bus = new InProcessBus();
  return [bus, bus];
});
