// The same over a client of openapi-generator (java). At the end it reads the game's record.
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Bot {
  public static void main(String[] args) throws ApiException {
    String ruleset = args[1];
    int seats = Integer.parseInt(args[2]);
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    NewPlayerBody ada = new NewPlayerBody().name("Ada").kind(PlayerKind.BOT);
    String token = new PlayersApi(client).createPlayer(ada).getToken();
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));

    // A seat beside players who want the same; after five seconds the house takes the empty ones.
    MatchBody wish = new MatchBody().ruleset(ruleset).seatCount(seats);
    wish.turnSeconds(60).houseAfterSeconds(5);
    Game mine = new GamesApi(client).quickMatch(wish, UUID.randomUUID().toString());

    Random random = new Random();
    EndedGame over = null;
    String since = null;
    while (over == null) {
      Turns turns = new MeApi(client).listTurns(since, 20, null);
      for (WaitingGame game : turns.getItems()) {
        List<Move> legal = game.getLegalMoves();
        Move move = legal.get(random.nextInt(legal.size()));
        MoveBody choice = new MoveBody().turn(game.getTurn()).move(move);
        try {
          new PlayApi(client).playMove(game.getId(), choice, null);
        } catch (ApiException error) {
          if (error.getCode() != 409) throw error; // 409: the turn has gone, so look again
        }
      }
      for (EndedGame ended : turns.getEnded()) {
        if (ended.getId().equals(mine.getId())) over = ended;
      }
      since = turns.getCursor();
    }

    if (over.getResult() == null) {
      System.out.println("cancelled");
      return;
    }
    int moves = 0;
    for (RecordedMove recorded : new GamesApi(client).getRecord(over.getId(), null).getMoves()) {
      if (!(recorded.getActualInstance() instanceof MadeMove made)) continue;
      if (made.getSeat().equals(mine.getYou())) moves++;
    }
    System.out.println("moves: " + moves + ", winners: " + over.getResult().getWinners());
  }
}
