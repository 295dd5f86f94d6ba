import { Module, type DynamicModule } from '@nestjs/common';
import { ActionExecutor, ExecutionStarter, InlineExecutionStarter } from '#libs/domain/gate';
import { Worker } from './worker.js';

export { Worker } from './worker.js';

/** Executes, recovers and seals. */
@Module({})
export class WorkerModule {
  static forRoot(worker: Worker): DynamicModule {
    return {
      module: WorkerModule,
      global: true,
      providers: [
        { provide: Worker, useValue: worker },
        { provide: ActionExecutor, useValue: worker.executor },
        { provide: InlineExecutionStarter, useValue: worker.inlineStarter },
        // Where the api runs in the same process, it claims and executes what it accepts.
        { provide: ExecutionStarter, useValue: worker.inlineStarter },
      ],
      exports: [ExecutionStarter, Worker],
    };
  }
}
