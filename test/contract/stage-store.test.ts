import { MemoryStageStore } from '../support/memory-stage-store.ts';
import { stageStoreContract } from './stage-store.ts';

stageStoreContract('the stage store in memory, which tests use', () =>
  Promise.resolve({ fresh: () => new MemoryStageStore(), close: () => Promise.resolve() }),
);
