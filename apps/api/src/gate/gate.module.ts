import { Module } from '@nestjs/common';
import { SubmitActionHandler } from '#libs/domain/gate';
import { ActionReader } from './action-reader.js';
import { AwaitAction } from './await-action.js';
import { GetActionController } from './get-action.controller.js';
import { LongPolls } from './long-polls.js';
import { SubmitActionController } from './submit-action.controller.js';

@Module({
  controllers: [SubmitActionController, GetActionController],
  providers: [SubmitActionHandler, ActionReader, AwaitAction, LongPolls],
  exports: [ActionReader],
})
export class GateModule {}
