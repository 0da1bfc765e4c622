// @vitest-environment happy-dom
import '../control/connect.test.ts';
import '../service/delivery/delivery.test.ts';
import '../service/delivery/delivery-calls.test.ts';
import '../service/delivery/request-signature.test.ts';
import '../service/operations/messages.test.ts';
