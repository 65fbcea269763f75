// The same over a client of openapi-generator (java). At the end it reads the game's record.
import java.util.Collections;
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

    List<String> house = Collections.nCopies(seats - 1, "careful");
    NewGameBody body = new NewGameBody().ruleset(ruleset).seatCount(seats).house(house);
    String id = new GamesApi(client).createGame(body, UUID.randomUUID().toString()).getId();

    Random random = new Random();
    GameResult result = null;
    String since = null;
    while (result == null) {
      Turns turns = new MeApi(client).listTurns(since, 20, null);
      for (WaitingGame game : turns.getItems()) {
        List<Move> moves = game.getLegalMoves();
        Move move = moves.get(random.nextInt(moves.size()));
        MoveBody choice = new MoveBody().turn(game.getTurn()).move(move);
        try {
          new PlayApi(client).playMove(game.getId(), choice, null);
        } catch (ApiException error) {
          if (error.getCode() != 409) throw error; // 409: the turn has gone, so look again
        }
      }
      for (EndedGame ended : turns.getEnded()) {
        if (ended.getId().equals(id)) result = ended.getResult();
      }
      since = turns.getCursor();
    }

    int mine = 0;
    for (RecordedMove recorded : new GamesApi(client).getRecord(id, null).getMoves()) {
      if (recorded.getActualInstance() instanceof MadeMove made && made.getSeat() == 0) mine++;
    }
    System.out.println("moves: " + mine + ", winners: " + result.getWinners());
  }
}
