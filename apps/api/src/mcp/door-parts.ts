import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/domain/kernel';
import { ErrorAnswers } from '../http/error-answers.js';

/** What the door needs of the process. */
@Injectable()
export class DoorParts {
  constructor(
    readonly clock: Clock,
    readonly errors: ErrorAnswers,
  ) {}
}
