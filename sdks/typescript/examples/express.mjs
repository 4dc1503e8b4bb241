// Receives deliveries with Express. The body must be raw: what was signed is what came, byte by byte.

import express from "express";
import { verify, WebhookError } from "punctual";

const SECRET = process.env.WEBHOOK_SECRET ?? "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

export const app = express();

app.post("/hooks", express.raw({ type: "*/*" }), (request, response) => {
  try {
    const delivery = verify(request.body, request.headers, SECRET);
    console.log(`delivery ${delivery}:`, JSON.parse(String(request.body)));
    response.sendStatus(204);
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    response.status(401).send(error.message);
  }
});
